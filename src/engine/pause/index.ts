/** The program that holds the namespaces which containers share, and the root file system that it runs in. */
export { locatePause, PauseNotFoundError } from "./locate.ts";
export { makePauseRoot, PAUSE_PROGRAM } from "./root.ts";
