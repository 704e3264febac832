/** Directories that containers have of the host: scratch volumes, which go with their task, and sources of mounts. */
export { makeScratch, removeScratch } from "./scratch.ts";
export { checkSource } from "./source.ts";
