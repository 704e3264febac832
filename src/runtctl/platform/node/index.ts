/** The client as a program of Node. */
export { ask } from "./ask.ts";
export { readFile, readInput, realPath } from "./files.ts";
export { print, printError, stderr, stdout } from "./output.ts";
export { endIn, exit, onEndingSignals, onNode, ownPid, sleep, variable } from "./process.ts";
