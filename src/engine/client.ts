/** The part of the engine that the client runtctl needs at once. It is separate so that a command does not load zod and the executor. */
export { type LogRecord, parseRecord, TextWriter } from "./logs/index.ts";
export { parseDuration } from "./spec/duration.ts";
export { type Finding, renderFinding } from "./spec/finding.ts";
export { PULL_POLICIES } from "./spec/pull-policy.ts";
