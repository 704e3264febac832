/** The client as one executable with QuickJS. */
import "./polyfill.ts";

export { ask } from "./ask.ts";
export { readFile, readInput, realPath } from "./files.ts";
export { endIn, sleep } from "./loop.ts";
export { exit, print, printError, stderr, stdout } from "./output.ts";
export { onNode, ownPid, variable } from "./process.ts";
export { onEndingSignals } from "./signals.ts";
