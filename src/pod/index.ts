/** Pods of Kubernetes and Compose files as tasks of the engine, and tasks that were pods as pods. Pure. */
export type { ComposeFile, ComposeOptions } from "./compose/file.ts";
export { parseCompose } from "./compose/parse.ts";
export type { PodHost } from "./manifest/translation.ts";
export { parseFile } from "./parse-file.ts";
export type { TaskFacts } from "./status/facts.ts";
export { type PodStatus, podOf } from "./status/pod.ts";
