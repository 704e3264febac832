/** What a client of the daemon has of the engine before it needs the rest: a program that starts often loads neither zod nor the executor for it. */
export { type LogRecord, parseRecord, TextWriter } from "./logs/index.ts";
export { PULL_POLICIES } from "./spec/pull-policy.ts";
