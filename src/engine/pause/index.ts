/** The pause program, which holds the namespaces that containers share, and its root file system. */
export { locatePause, PauseNotFoundError } from "./locate.ts";
export { makePauseRoot, PAUSE_PROGRAM } from "./root.ts";
