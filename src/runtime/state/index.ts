export { checkId, isId } from "./id.ts";
export {
  type CgroupRecord,
  type ExecRecord,
  type HookRecord,
  type HooksRecord,
  type NetDevicesRecord,
  type ResctrlRecord,
  type RootMountRecord,
  STATE_MINOR,
  STATE_SCHEMA,
  type StateRecord,
  type StateSummary,
} from "./record.ts";
export {
  configPath,
  containerDirectory,
  isLocked,
  keepConfig,
  listIds,
  lock,
  lockWithin,
  publishRecord,
  readRecord,
  refuseExisting,
  removeDirectory,
  reserve,
  stageRecord,
  writeRecord,
} from "./store.ts";
export { peek, readSummary } from "./summary.ts";
