/** What a configuration must satisfy before anything is done with it, beyond its structure. */
import { RuntError } from "../errors/index.ts";
import type { Spec } from "../spec/index.ts";
import { deviceEffects, deviceNodes, deviceNumbers, deviceRules } from "./devices/devices.ts";
import { annotationKeys, containerType, ociVersion, otherPlatforms, rootOfWindows, rootPath } from "./document/document.ts";
import { type Check, type CheckFacts, type Finding, reportInto } from "./finding.ts";
import { hooks } from "./hooks/hooks.ts";
import { mappedFilesystems, mountDestinations, mountMappings, mountsBelowProc } from "./mounts/mounts.ts";
import { hiddenPaths, nulBytes, rootPropagation } from "./mounts/paths.ts";
import {
  groupMappings,
  mappedUser,
  mappingsNeedUserNamespace,
  rootlessIds,
  userMappings,
  userNamespaceMappings,
} from "./namespaces/id-mappings.ts";
import { hostnames, namespacePaths, namespaceTypes, timeOffsets } from "./namespaces/namespaces.ts";
import { netDevices, netDeviceTargets } from "./network/net-devices.ts";
import { ambientCapabilities, labels, oomScoreAdj, personality, processArgs, processCwd, rlimits, userIds } from "./process/process.ts";
import { ioPriority, scheduler } from "./process/scheduler.ts";
import {
  blockIO,
  cgroupsPath,
  cpuBurst,
  intelRdtGroup,
  intelRdtSchemas,
  memoryLimits,
  memoryPolicy,
  memoryPolicyFlags,
  pageSizes,
  rdmaLimits,
  unifiedKeys,
} from "./resources/resources.ts";
import { seccompListener, seccompProfile } from "./seccomp/seccomp.ts";

/** What create refuses and warns of, in the order in which they run and report. */
export const CHECKS: readonly Check[] = [
  ociVersion,
  rootPath,
  rootOfWindows,
  otherPlatforms,
  nulBytes,
  processCwd,
  processArgs,
  userIds,
  rlimits,
  oomScoreAdj,
  scheduler,
  ioPriority,
  ambientCapabilities,
  namespaceTypes,
  namespacePaths,
  hostnames,
  timeOffsets,
  mappingsNeedUserNamespace,
  userNamespaceMappings,
  userMappings,
  groupMappings,
  mappedUser,
  rootlessIds,
  mountDestinations,
  mountMappings,
  mountsBelowProc,
  mappedFilesystems,
  hiddenPaths,
  rootPropagation,
  deviceNodes,
  deviceNumbers,
  deviceEffects,
  deviceRules,
  netDevices,
  netDeviceTargets,
  cgroupsPath,
  memoryLimits,
  cpuBurst,
  blockIO,
  pageSizes,
  rdmaLimits,
  unifiedKeys,
  intelRdtGroup,
  intelRdtSchemas,
  memoryPolicy,
  memoryPolicyFlags,
  personality,
  hooks,
  labels,
  seccompProfile,
  seccompListener,
  annotationKeys,
  containerType,
];

/** What holds for the process of `exec`, for the resources and the schemas of `update`, and for the mounts of a running container, on their own. */
const PART_CHECKS = {
  process: [nulBytes, processCwd, processArgs, userIds, rlimits, oomScoreAdj, scheduler, ioPriority, ambientCapabilities, labels],
  resources: [memoryLimits, cpuBurst, blockIO, pageSizes, rdmaLimits, unifiedKeys],
  schemas: [intelRdtSchemas],
  mounts: [nulBytes, mountDestinations, mountMappings, mountsBelowProc, mappedFilesystems],
} as const satisfies Record<string, readonly Check[]>;

/** Every finding of every check. */
export function findProblems(spec: Spec, facts: CheckFacts = {}, checks: readonly Check[] = CHECKS): readonly Finding[] {
  const findings: Finding[] = [];
  const report = reportInto(findings);
  for (const check of checks) check(spec, report, facts);
  return findings;
}

/**
 * The gate of create. Returns the warnings.
 * @throws RuntError "config-invalid" for the first finding that is an error
 */
export function checkSpec(spec: Spec, facts: CheckFacts = {}): readonly Finding[] {
  return refuseErrors(findProblems(spec, facts));
}

/** The same for a spec that has nothing but this part. */
export function checkPart(spec: Spec, part: keyof typeof PART_CHECKS, facts: CheckFacts = {}): readonly Finding[] {
  return refuseErrors(findProblems(spec, facts, PART_CHECKS[part]));
}

function refuseErrors(findings: readonly Finding[]): readonly Finding[] {
  const error = findings.find(({ severity }) => severity === "error");
  if (error !== undefined) {
    throw new RuntError("config-invalid", error.message, {
      finding: error.code,
      pointer: error.pointer,
      ...(error.remedy !== undefined && { hint: error.remedy }),
    });
  }
  return findings;
}
