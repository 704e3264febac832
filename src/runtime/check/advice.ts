/** Checks that only `runt validate` runs: what would work and is not what was meant, and what create finds out later. In report order. */

import { deniedDevices } from "./devices/advice.ts";
import { annotationNames } from "./document/annotation-advice.ts";
import { linuxGiven } from "./document/linux.ts";
import { modes } from "./document/modes.ts";
import { newerFields } from "./document/versions.ts";
import type { Check } from "./finding.ts";
import { hookArguments, hookTimeouts } from "./hooks/advice.ts";
import { mountNamespaces, sharedMounts, terminalMount, ungrantedMountIds } from "./mounts/advice.ts";
import { mountOrder } from "./mounts/order.ts";
import { overlayLayers } from "./mounts/overlays.ts";
import { pathLengths } from "./mounts/paths.ts";
import { contradictingOptions, filesystemOptions } from "./mounts/words.ts";
import { procMount } from "./namespaces/advice.ts";
import { sandboxIdentity, sandboxSize } from "./namespaces/sandbox.ts";
import { sysctlPorts, sysctlValues } from "./namespaces/sysctl.ts";
import { timeRange } from "./namespaces/time-advice.ts";
import { addressSpace, envEntries, processGiven, searchPath, terminalSettings } from "./process/advice.ts";
import { argumentSizes } from "./process/arguments.ts";
import { ambientForUsers, effectiveCapabilities } from "./process/capabilities.ts";
import { labelForm } from "./process/label-advice.ts";
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
];
