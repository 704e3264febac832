/** For the engine, which acts on what is its own in the same way. */

export { isAlive, type ProcessIdentity, processStat, readProc, slices, thisBoot, unlessShortage } from "../process/procfs.ts";
export { giveOwnDirectory, makeOwnDirectory, openOwnFile, overwriteOwnFile, readOwnFile, refuseMounts, removeOwnTree } from "./file.ts";
