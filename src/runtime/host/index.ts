/**
 * The ground of the program: the operating system, and what every room needs of its own start and traces.
 */

export { countListenFds, separateDescriptors } from "./descriptors.ts";
export { observe, operation, phase, type Room, reached } from "./observer.ts";
export * from "./system.ts";
export { type Place, type Visitor, walk } from "./walk.ts";
