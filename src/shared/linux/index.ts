export { CAPABILITIES, capabilityBit } from "./capabilities.ts";
export {
  ACCESS,
  ARCHITECTURE_O,
  CLONE_NEW,
  deviceNumbers,
  EAGAIN,
  EPERM,
  LOCK,
  lockedFile,
  MOUNT_ATTR,
  MS,
  NAMESPACE_FILES,
  O,
  POLL,
  RLIMIT,
  S,
  WAIT,
} from "./constants.ts";
export { cpuWeight, HIGHEST_SHARES, LOWEST_SHARES } from "./cpu-weight.ts";
export { decodeMountPath, type MountLine, parseMountinfo, parseMountLine } from "./mountinfo.ts";
export {
  IO_PRIORITY_CLASSES,
  MEMORY_POLICY_FLAGS,
  MEMORY_POLICY_MODES,
  PERSONALITY_DOMAINS,
  SCHEDULER_FLAGS,
  SCHEDULER_POLICIES,
} from "./policies.ts";
export { SIGNALS, type SignalName, signalName, signalNumber } from "./signals.ts";
export { HOST_SYSFS_OPTIONS, MASKED_PATHS, READONLY_PATHS, USUAL_MOUNTS, USUAL_PATH, type UsualMount } from "./usual-container.ts";
