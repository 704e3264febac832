export { checkId } from "./id.ts";
export {
  type CgroupRecord,
  type ExecRecord,
  type HookRecord,
  type HooksRecord,
  type NetDevicesRecord,
  parseRecord,
  type ResctrlRecord,
  STATE_SCHEMA,
  type StateRecord,
  serializeRecord,
} from "./record.ts";
export {
  containerDirectory,
  isLocked,
  listIds,
  lock,
  publishRecord,
  readRecord,
  refuseExisting,
  removeDirectory,
  reserve,
  stageRecord,
  writeRecord,
} from "./store.ts";
