/** Pods of Kubernetes as tasks of the engine, and such tasks as pods. Pure. */
export type { PodHost } from "./manifest/translation.ts";
export { parseFile } from "./parse-file.ts";
export type { TaskFacts } from "./status/facts.ts";
export { type PodStatus, podOf } from "./status/pod.ts";
