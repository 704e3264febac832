/** For the engine, which acts on what is its own in the same way. */
export {
  giveOwnDirectory,
  makeOwnDirectory,
  openOwnFile,
  overwriteOwnFile,
  readOwnFile,
  removeOwnFile,
  replaceOwnFile,
  writeOwnFile,
} from "./file.ts";
export { killGroup } from "./group.ts";
export { isMounted, mountsBelow } from "./mounted.ts";
export { refuseMounts, removeOwnTree } from "./tree.ts";
