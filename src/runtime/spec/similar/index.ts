/** Names close to one that was not found: loaded for a configuration or a command line with an unknown name. */
export { closeNames } from "./similar.ts";
