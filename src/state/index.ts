export { checkId } from "./id.ts";
export { type CgroupRecord, parseRecord, STATE_SCHEMA, type StateRecord, serializeRecord } from "./record.ts";
export { containerDirectory, isLocked, listIds, lock, readRecord, refuseExisting, removeDirectory, reserve, writeRecord } from "./store.ts";
