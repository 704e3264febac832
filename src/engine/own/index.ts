/** Acts on what is the engine's own only: files and directories below its directories, mounts there, and process groups of its programs. Every room may use it. */
export * from "../../executor/own/index.ts";
export { mountOf, unmount, unmountBelow } from "./mounts.ts";
export { type Bound, PROGRAM_MS, runBounded } from "./program.ts";
