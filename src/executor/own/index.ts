/** For the engine, which acts on what is its own in the same way. */
export { giveOwnDirectory, makeOwnDirectory, openOwnFile, overwriteOwnFile, readOwnFile, refuseMounts, removeOwnTree } from "./file.ts";
