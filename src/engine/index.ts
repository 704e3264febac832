/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
/** The task engine: it drives groups of containers on one host to their desired state, and recovers after any crash. */
export {
  type Box,
  type BoxEnd,
  type ExecHandle,
  ExecutorError,
  type ExecutorErrorCode,
  locateRuntime,
  makeDirectories,
  ProgramError,
  RuntimeError,
  type SpawnRequest,
  type Stats,
  type TakeRequest,
  type TerminalSize,
} from "../executor/index.ts";
export { type Collected, checkLogin, type ImageDetail, ImageError, type Pin, type Progress } from "./images/index.ts";
export { type LogRecord, parseRecord, renderRecord, TextWriter } from "./logs/index.ts";
export {
  type AgentRecord,
  type ContainerExit,
  DEFAULT_OPTIONS,
  type EngineOptions,
  type HostCapacity,
  type QueuePolicy,
  type Readiness,
  type Reason,
  type ReasonCode,
  type UserRange,
} from "./model/index.ts";
export { NetworkError, type NetworkErrorCode } from "./network/index.ts";
export { removeOwnTree } from "./own/index.ts";
export * from "./run/index.ts";
export type { SecretSource } from "./secrets/index.ts";
export {
  durationSchema,
  type Finding,
  type FindingCode,
  type ImageBuild,
  imageBuild,
  machinesOf,
  type ParsedFile,
  type PoolInput,
  type PoolSpec,
  PULL_POLICIES,
  type PullPolicy,
  parseDuration,
  parseTasks,
  RUNTIME_NAME,
  readDocuments,
  renderFinding,
  shapeProblems,
  sizeSchema,
  type TaskInput,
  type TaskSpec,
  taskJsonSchema,
  warningsOf,
} from "./spec/index.ts";
export { type JournalEntry, type JournalPage, type Migration, migrateStore, StoreError, type StoreErrorCode } from "./store/index.ts";
