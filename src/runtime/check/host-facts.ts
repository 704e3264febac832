/** The host as checks and compile see it: the document that `runt check -f json` prints (src/runtime/spec/schema/host-facts.ts). */
export type { HostFacts } from "../spec/index.ts";

/** The version of the document that this program writes and reads. */
export const HOST_FACTS_VERSION = 1;
