/** Destinations that are paths of the host: loaded for a configuration that has one. */
export { destinationsInRoot, type InRoot } from "./host-destinations.ts";
