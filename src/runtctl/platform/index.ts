/** The program that the client runs in. The native client takes native/index.ts in the place of node/index.ts (tools/bundle-native-client.ts). */
export { type Answer, ASK, type End, type Output, type Question } from "./contract.ts";
export {
  ask,
  endIn,
  exit,
  onEndingSignals,
  onNode,
  ownPid,
  print,
  printError,
  readFile,
  readInput,
  realPath,
  sleep,
  stderr,
  stdout,
  variable,
} from "./node/index.ts";
