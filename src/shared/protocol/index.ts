export { type Actor, type FieldType, HELPER_ACTORS, type OpDefinition } from "./fields.ts";
export { MESSAGE_HEAD, MESSAGES, type MessageName } from "./messages.ts";
export { OPS, type OpArgs, type OpName } from "./operations/index.ts";
export { CREATE } from "./operations/mounts.ts";
export { NO_SLOT, OPERATION_HEAD, PLAN_HEAD, PLAN_MAGIC, PLAN_VERSION, SLOT } from "./plan.ts";
