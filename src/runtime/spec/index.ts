export { defaultSpec } from "./default.ts";
export { lookup } from "./explain.ts";
export { featuresDocument, OCI_VERSION_MAX } from "./features.ts";
export { type JsonOptions, type JsonValue, lineColumn, parseJson, pointerToken, printJson } from "./json.ts";
export { completePageSize, flatCapabilities, parseConfig, parsePart, parseSpec, validateSpec } from "./load.ts";
export { HOOK_KINDS, NAMESPACE_TYPES, RLIMIT_TYPES } from "./names.ts";
export { absolutePath, cleanPath, cleanTarget, member } from "./path.ts";
export { parsePlain } from "./plain-json.ts";
export {
  canShareFilter,
  SECCOMP_ACTIONS,
  SECCOMP_ARCHITECTURES,
  SECCOMP_ERRNO_LIMIT,
  SECCOMP_FLAG_NEW_LISTENER,
  SECCOMP_FLAGS,
  SECCOMP_OPERATORS,
  surelyAllowed,
} from "./seccomp.ts";
export { closeNames } from "./similar.ts";
export { findStructure, type StrangeName, type Structure, type Violation } from "./structure.ts";
export { systemCalls } from "./syscalls.ts";
export type {
  HostFacts,
  Integer,
  Spec,
  SpecDevice,
  SpecIdMapping,
  SpecLinux,
  SpecMount,
  SpecNamespace,
  SpecProcess,
  SpecResources,
  SpecSeccomp,
} from "./types.ts";
