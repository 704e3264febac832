export {
  CHANGEABLE,
  type Changeable,
  CLAIM_FILE,
  CLAIM_MOST,
  CLAIM_SCHEMA,
  type Claim,
  type ClaimFile,
  type ClaimRecord,
  changeableOf,
  claimOperations,
  claimRecord,
  operationName,
  packClaim,
  TEMPLATE,
} from "./claim.ts";
export {
  EXIT_FIELD,
  EXIT_PHASE,
  EXIT_RECORD_SCHEMA,
  type ExitRecord,
  LOG_FIELD,
  LOG_FILES_MAX,
  LOG_SIZE_MIN,
  type LogCounts,
  type ProcessId,
  START_FIFO,
} from "./exit-record.ts";
export { type Actor, type FieldType, HELPER_ACTORS, type OpDefinition } from "./fields.ts";
export { EMBEDDED_ROW, IMAGE_PLACE } from "./image.ts";
export { MESSAGE_HEAD, MESSAGES } from "./messages.ts";
export { MONITOR_OPTIONS, MONITOR_STEP, type MonitorArguments, type MonitorValue, monitorArguments } from "./monitor.ts";
export { OPS, type OpArgs, type OpName } from "./operations/index.ts";
export { CREATE } from "./operations/mounts.ts";
export {
  PAGE_BYTES,
  PAGE_WORD,
  PAGE_WORDS_SHOWN,
  PLAN_NAME,
  PROGRESS_NAME,
  TRACE_ENTRY,
  TRACE_ENTRY_WORDS,
  TRACE_HEAD,
  TRACE_HEAD_WORDS,
  UNTIMED,
} from "./page.ts";
export { NO_SLOT, OPERATION_HEAD, PLAN_HEAD, PLAN_MAGIC, PLAN_VERSION, SLOT } from "./plan.ts";
export { PREPARED, PREPARED_FILE_SYSTEMS } from "./prepared.ts";
export { STATE_SUMMARY, SUMMARY_MEMBERS } from "./state-summary.ts";
