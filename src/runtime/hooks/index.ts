export { type HookCall, runHook } from "./run.ts";
