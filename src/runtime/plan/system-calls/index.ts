/** The system calls of each operation: loaded for `plan --explain` only. */
export { declaredSystemCalls, systemCallsOf } from "./system-calls.ts";
