/**
 * The ground of the program: the operating system, and what every room needs of its own start, loading and traces.
 *
 * `import * as host` has what system.ts has, and nothing else (tools/see-through.ts): the other names are imported one by one.
 */

export { countListenFds, separateDescriptors } from "./descriptors.ts";
export { loadSync } from "./lazy.ts";
export { observe, operation, phase, type Room, reached } from "./observer.ts";
export * from "./system.ts";
export { type Place, type Visitor, walk } from "./walk.ts";
