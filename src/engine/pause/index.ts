/** The pause program, which holds the namespaces that containers share, and its root file system. */
export { locatePause, PAUSE_PROGRAM, PauseRoot } from "./root.ts";
