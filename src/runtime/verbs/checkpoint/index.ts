/** Loaded when it is called. */
export { checkpoint } from "./checkpoint.ts";
