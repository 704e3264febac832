/** Checks that only `runt validate` runs: what would work and is not what was meant, and what create finds out later. In report order. */
import { deniedDevices } from "./devices/devices.ts";
import { annotationNames, linuxGiven, modes } from "./document/advice.ts";
import { newerFields } from "./document/versions.ts";
import type { Check } from "./finding.ts";
import { hookArguments, hookTimeouts } from "./hooks/hooks.ts";
import { mountNamespaces, mountOrder, sharedMounts, terminalMount, ungrantedMountIds } from "./mounts/advice.ts";
import { overlayLayers } from "./mounts/overlays.ts";
import { pathLengths } from "./mounts/paths.ts";
import { contradictingOptions, filesystemOptions } from "./mounts/words.ts";
import { kataAdvice, procMount, sandboxIdentity, sandboxSize, timeRange } from "./namespaces/advice.ts";
import { sysctlPorts, sysctlValues } from "./namespaces/sysctl.ts";
import {
  addressSpace,
  ambientForUsers,
  effectiveCapabilities,
  envEntries,
  labelForm,
  processGiven,
  searchPath,
  terminalSettings,
} from "./process/advice.ts";
import { argumentSizes } from "./process/arguments.ts";
import {
  bandwidth,
  hugepageMultiples,
  idleGroup,
  memorySizes,
  pidsLimit,
  realtime,
  reservation,
  throttleRates,
} from "./resources/advice.ts";
import { blockedCalls, knownCalls, nativeArchitecture, seccompRules } from "./seccomp/advice.ts";

export const SPEC_CHECKS: readonly Check[] = [
  newerFields,
  processGiven,
  linuxGiven,
  envEntries,
  argumentSizes,
  searchPath,
  terminalSettings,
  addressSpace,
  effectiveCapabilities,
  ambientForUsers,
  modes,
  procMount,
  timeRange,
  pathLengths,
  mountOrder,
  contradictingOptions,
  filesystemOptions,
  sharedMounts,
  mountNamespaces,
  ungrantedMountIds,
  overlayLayers,
  terminalMount,
  deniedDevices,
  bandwidth,
  idleGroup,
  realtime,
  memorySizes,
  reservation,
  pidsLimit,
  hugepageMultiples,
  throttleRates,
  sysctlValues,
  sysctlPorts,
  hookArguments,
  hookTimeouts,
  labelForm,
  knownCalls,
  blockedCalls,
  nativeArchitecture,
  seccompRules,
  annotationNames,
  sandboxIdentity,
  sandboxSize,
  kataAdvice,
];
