export type { Applied } from "./apply.ts";
export type { ContainerDetail, DetailOptions, TaskDetail } from "./detail.ts";
export type { FieldDifference, TaskDifference } from "./difference.ts";
export { Engine, type EngineSettings, type NodeView } from "./engine.ts";
export { EngineError, type EngineErrorCode } from "./errors.ts";
export type { Caller, EngineEvent } from "./journal.ts";
export type { EngineLog } from "./log.ts";
export type { UsageView } from "./usage.ts";
export type { ContainerView, LedgerView, TaskView } from "./view.ts";
