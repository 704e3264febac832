export { type ContainerState, describe, toState } from "./describe.ts";
export { holdersOf, locked, lockHolders } from "./holders.ts";
export { checkId, isId } from "./id.ts";
export { lockAgain } from "./lock-again.ts";
export { markedAt, removeRoot } from "./mark.ts";
export { openFifo, openFile, writeNew } from "./own.ts";
export {
  type CgroupRecord,
  type ExecRecord,
  type HookRecord,
  type HooksRecord,
  type MachineRecord,
  type NetDevicesRecord,
  type ResctrlRecord,
  type RootMountRecord,
  STATE_MINOR,
  STATE_SCHEMA,
  type StateRecord,
  type StateSummary,
} from "./record.ts";
export { halfWrittenFilters, notOurs, removeRemains } from "./remains.ts";
export { isOfAnotherRoot, isSharedRoot, lookAtRoot, rootDirectory } from "./root.ts";
export { deriveLife, deriveStatus, initState, type Status } from "./status.ts";
export {
  configPath,
  containerDirectory,
  isLocked,
  keepConfig,
  listIds,
  lock,
  lockWithin,
  publishRecord,
  readAgain,
  readRecord,
  refuseExisting,
  removeDirectory,
  reserve,
  stageRecord,
  writeRecord,
} from "./store.ts";
export { peek, readSummary, readTarget } from "./summary.ts";
export { timestamp } from "./time.ts";
