/** Checks that only `runt validate` runs: what would work and is not what was meant, and what create finds out later. In report order. */
import type { Check } from "../finding.ts";
import { annotationNames } from "./annotations.ts";
import { argumentSizes } from "./arguments.ts";
import { ambientForUsers, effectiveCapabilities } from "./capabilities.ts";
import { deniedDevices } from "./devices.ts";
import { hookArguments, hookTimeouts } from "./hooks.ts";
import { labelForm } from "./labels.ts";
import { linuxGiven } from "./linux.ts";
import { modes } from "./modes.ts";
import { mountOrder } from "./mount-order.ts";
import { contradictingOptions, filesystemOptions } from "./mount-words.ts";
import { mountNamespaces, overlayLayers, sharedMounts, terminalMount, ungrantedMountIds } from "./mounts.ts";
import { procMount } from "./namespaces.ts";
import { addressSpace, envEntries, processGiven, searchPath, terminalSettings } from "./process.ts";
import { bandwidth, hugepageMultiples, idleGroup, memorySizes, pidsLimit, realtime, reservation, throttleRates } from "./resources.ts";
import { sandboxIdentity, sandboxSize } from "./sandbox.ts";
import { blockedCalls, knownCalls, nativeArchitecture, seccompRules } from "./seccomp.ts";
import { sysctlValues } from "./sysctl.ts";
import { timeRange } from "./time.ts";
import { newerFields } from "./versions.ts";

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
];
