/** Translates Kubernetes pods and Compose files into tasks of the engine, and tasks back into pods. Pure. */
export type { ComposeFile, ComposeOptions } from "./compose/file.ts";
export { parseCompose } from "./compose/parse.ts";
export type { PodHost } from "./manifest/translation.ts";
export { parseFile } from "./parse-file.ts";
export type { TaskFacts } from "./status/facts.ts";
export { type PodStatus, podOf } from "./status/pod.ts";
