/** A host other than this one: its facts, and what is answered from them. */
export { chosenHostFacts } from "./load.ts";
export { recordedProbe } from "./recorded.ts";
