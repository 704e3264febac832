/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
/** The client of runtd: every route of the daemon's socket as a typed call, and its streams as iterators. */
export type { LogRecord } from "../engine/index.ts";
export {
  type ConnectOptions,
  connect,
  type EngineClient,
  type ExecRequest,
  type LogsRequest,
  type PoolFile,
  type PoolRunRequest,
} from "./connect.ts";
export type { CallOptions } from "./limit.ts";
export type * from "./models.ts";
export type { Answers, Progress, Requests } from "./operations.ts";
export type { Output, Program, ProgramEnd } from "./program.ts";
export { ClientError } from "./protocol/index.ts";
export type { JournalEvent } from "./streams.ts";
