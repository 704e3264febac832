export { CAPABILITIES, capabilityBit } from "./capabilities.ts";
export { cpuWeight, HIGHEST_SHARES, LOWEST_SHARES } from "./cpu-weight.ts";
export { EAGAIN, EPERM } from "./errno.ts";
export { ACCESS, ARCHITECTURE_O, LOCK, O, POLL, S } from "./files.ts";
export { RLIMIT } from "./limits.ts";
export { MOUNT_ATTR, MS } from "./mount.ts";
export { decodeMountPath, type MountLine, parseMountinfo, parseMountLine } from "./mountinfo.ts";
export { CLONE_NEW } from "./namespaces.ts";
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
export { WAIT } from "./wait.ts";
