export { type Actor, type FieldType, HELPER_ACTORS, type OpDefinition } from "./fields.ts";
export { MESSAGE_HEAD, MESSAGES, type MessageName } from "./messages.ts";
export { OPS, type OpArgs, type OpName } from "./operations/index.ts";
export { CREATE } from "./operations/mounts.ts";
export { PAGE_BYTES, PAGE_WORD, PAGE_WORDS_SHOWN, PLAN_NAME, PROGRESS_NAME } from "./page.ts";
export { NO_SLOT, OPERATION_HEAD, PLAN_HEAD, PLAN_MAGIC, PLAN_VERSION, SLOT } from "./plan.ts";
export { TRACE_ENTRY, TRACE_ENTRY_WORDS, TRACE_HEAD, TRACE_HEAD_WORDS, UNTIMED } from "./trace-area.ts";
