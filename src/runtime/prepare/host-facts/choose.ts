/** Facts of another host than this one, and a host probe that answers from them. */
export { chosenHostFacts } from "./load.ts";
export { recordedProbe } from "./recorded.ts";
