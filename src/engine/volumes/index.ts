/** Directories and files that are mounted in containers: volumes, which are removed with their task, and sources on the host. */

export { makeFiles } from "./files.ts";
export { type Filesystem, type Identity, identityOf, mountFilesystem, unmountFilesystem } from "./filesystem.ts";
export { fillVolume, forgetFilling } from "./fill.ts";
export { mountImage, unmountImage } from "./image.ts";
export { OF_SYSTEM } from "./links.ts";
export { giveScratch, makeScratch, mountMemory, removeEmpty, removeOther, removeScratch, sizeOnDisk, unmountMemory } from "./scratch.ts";
export { O_PATH, openBelow, openSource } from "./source.ts";
export { bindWithin, unbind } from "./within.ts";
