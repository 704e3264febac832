/** Translates Kubernetes pods and Compose files into tasks of the engine, and tasks back into pods. Pure. */

export { type ClusterPod, parseClusterPod } from "./cluster/pod.ts";

export type { BuildPolicy, ServiceBuild } from "./compose/build.ts";
export { variablesIn } from "./compose/env-file.ts";
export type { ComposeFile } from "./compose/file.ts";
export type { ComposeOptions } from "./compose/model.ts";
export { parseCompose } from "./compose/parse.ts";
export { isProjectName, projectOf } from "./compose/project-name.ts";
export { dockerHub, imageReference } from "./image-name.ts";
export type { ClusterRules, PodHost } from "./manifest/translation.ts";
export { parseFile } from "./parse-file.ts";
export { withProposal } from "./proposal.ts";
export { type DropIns, isQuadletName, MOST_UNITS, parseQuadlet, type QuadletFile } from "./quadlet/parse.ts";
export type { UnitFile } from "./quadlet/unit.ts";
export { type PodSize, parseSizes } from "./sizes.ts";
export type { TaskFacts } from "./status/facts.ts";
export { type HostFacts, nodeOf } from "./status/node.ts";
export { cronJobOf, type PodStatus, podOf, unknownObject } from "./status/pod.ts";
export { podReadiness } from "./status/readiness.ts";
