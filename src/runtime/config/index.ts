export { deriveCapabilities, NO_CAPABILITIES } from "./capabilities.ts";
export { type FoundKata, isRefused, KATA_ANNOTATIONS, type KataAnnotation, type KataUse, kataAnnotations } from "./cri/kata.ts";
export { findAll, readSize, roleOf, type Sandbox, SIZE_FIELDS, type Size, sandboxOf, sizeKey, tmpfsBytes } from "./cri/sandbox.ts";
export { OWN } from "./cri/size.ts";
export {
  type DeriveContext,
  deriveConfig,
  deriveIntelRdt,
  deviceRuleMode,
  keptGroups,
  propagationFlags,
  refusesUnknownCalls,
  refuseUnknownCalls,
} from "./derive.ts";
export { DEFAULT_DEVICES, mountedInDev } from "./devices.ts";
export { type Difference, differences, type Effective, effectiveSettings } from "./effective.ts";
export { destinationsInRoot, type InRoot } from "./host-destinations.ts";
export { splitData } from "./joined-options.ts";
export { type DeviceNumber, guestCharacter, unfitCharacter, unfitDevice } from "./machine-devices.ts";
export { changesSuperblock, parseIdentity, parseMountOptions } from "./mount-option-list.ts";
export { isUserspaceOption, MOUNT_OPTIONS, type MountOption, supportedMountOptions } from "./mount-options.ts";
export { bindAttributes, CGROUP2_OPTIONS, cgroup2OptionProblem, deriveMount, withoutEffect } from "./mounts.ts";
export { deriveIdMappings, deriveNamespaces } from "./namespaces.ts";
export { cpuList, nodeList, policyNodeList } from "./number-list.ts";
export { deriveEnv, deriveProcess, envName, restoreProcess, storeProcess } from "./process.ts";
export { deriveResources } from "./resources.ts";
export { deriveSeccomp } from "./seccomp.ts";
export { deriveSysctl, sysctlPath } from "./sysctl.ts";
export { deriveTemplate } from "./template.ts";
export type * from "./types.ts";
export type { Warn, Warning } from "./warnings.ts";
