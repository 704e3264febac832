/** Loaded when it is called. */
export { restore } from "./restore.ts";
