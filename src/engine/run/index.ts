export type { Applied } from "./apply.ts";
export { Engine, type EngineSettings, type NodeView } from "./engine.ts";
export { EngineError, type EngineErrorCode } from "./errors.ts";
export type { EngineEvent } from "./journal.ts";
export type { EngineLog } from "./log.ts";
export type { ContainerView, LedgerView, TaskView } from "./view.ts";
