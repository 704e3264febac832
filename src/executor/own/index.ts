/** For the engine, which acts on what is its own in the same way. */
export { giveOwnDirectory, makeOwnDirectory, openOwnFile, overwriteOwnFile, readOwnFile } from "./file.ts";
export { refuseMounts, removeOwnTree } from "./tree.ts";
