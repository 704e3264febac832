export { asStarted, publishClaim, readClaim } from "./claim.ts";
export {
  type ContainerState,
  deriveLife,
  deriveStatus,
  describe,
  initState,
  type LockedContainer,
  lockRecord,
  peek,
  readSummary,
  readTarget,
  type Status,
  toState,
} from "./describe.ts";
export { holdersOf, locked, lockHolders } from "./holders.ts";
export { markedAt, removeRoot, timestamp } from "./mark.ts";
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
export { checkId, isId, isOfAnotherRoot, isSharedRoot, lookAtRoot, markingOf, rootDirectory } from "./root.ts";
export {
  configPath,
  containerDirectory,
  isLocked,
  keepConfig,
  listIds,
  lock,
  lockAgain,
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
