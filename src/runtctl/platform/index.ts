/** System functions of the client, on top of the host module. Unit tests replace them by functions on Node (test/support/client-platform.ts). */
import "./polyfill.ts";

export { ask, upgrade } from "./ask.ts";
export { Connection } from "./connection.ts";
export { type Answer, ASK, type End, type Output, type Question } from "./contract.ts";
export {
  absolutePath,
  cpuCount,
  exists,
  hostname,
  isDirectory,
  isFile,
  makeDirectory,
  memoryBytes,
  namesIn,
  newFile,
  readFile,
  readInput,
  realPath,
  workingDirectory,
} from "./files.ts";
export { listenAt } from "./listener.ts";
export { endIn, run, sleep } from "./loop.ts";
export { atExit, exit, print, printError, stderr, stdout } from "./output.ts";
export {
  environment,
  giveBackTerminal,
  isTerminal,
  onSignals,
  ownPid,
  raise,
  readStdin,
  type SignalName,
  takeTerminal,
  variable,
  version,
  windowSize,
  words,
} from "./process.ts";
