/** Directories that containers have of the host: volumes, which go with their task, and sources of mounts. */
export { makeFiles } from "./files.ts";
export { makeScratch, removeScratch } from "./scratch.ts";
export { checkSource } from "./source.ts";
