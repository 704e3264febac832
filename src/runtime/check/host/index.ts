/** Checks that look at the host and at the files of the bundle. In report order. */
import type { Spec } from "../../spec/index.ts";
import { deviceFiles, deviceOwners, devicePlaces } from "../devices/host-devices.ts";
import { rootFilesystem } from "../document/document.ts";
import { runChecks } from "../examine.ts";
import { type Finding, reportInto } from "../finding.ts";
import { hookPrograms } from "../hooks/hooks.ts";
import { lockedMounts, procSources, remountTargets } from "../mounts/host-locked.ts";
import { hiddenPathLinks, mountPlaces, readonlyPathsBindable } from "../mounts/host-places.ts";
import { cgroupMountOptions, filesystemTypes, mountSources } from "../mounts/host-sources.ts";
import { overlayDirectories } from "../mounts/overlays.ts";
import { rootOwner, subordinateIds } from "../namespaces/host-ids.ts";
import { clocks, hostNamespaces, namespaceFiles, sandboxFits, sandboxThere } from "../namespaces/host-namespaces.ts";
import { sysctlFiles } from "../namespaces/host-sysctl.ts";
import {
  apparmorProfile,
  argumentsOfHost,
  boundCapabilities,
  ioPriorityOfCaller,
  oomScoreOfCaller,
  realtimeBudget,
  realtimePolicy,
  rlimitsOfHost,
  workingDirectory,
} from "../process/host-process.ts";
import { program } from "../process/host-program.ts";
import { affinityCpus, memoryNodes, quotaAboveHost } from "../resources/host-cpus.ts";
import {
  blockDevices,
  cgroupFiles,
  hugepageSizes,
  memoryHierarchy,
  memoryOfHost,
  networkNames,
  occupiedCgroup,
  pidsForHooks,
} from "../resources/host-resources.ts";
import { filterFeatures, listenerSocket } from "../seccomp/advice.ts";
import { type HostCheck, openContainerFiles } from "./container-files.ts";
import type { BundleView } from "./view.ts";

const HOST_CHECKS: readonly HostCheck[] = [
  rootFilesystem,
  rlimitsOfHost,
  argumentsOfHost,
  oomScoreOfCaller,
  ioPriorityOfCaller,
  boundCapabilities,
  apparmorProfile,
  hostNamespaces,
  namespaceFiles,
  clocks,
  subordinateIds,
  rootOwner,
  filesystemTypes,
  cgroupMountOptions,
  mountSources,
  overlayDirectories,
  mountPlaces,
  remountTargets,
  lockedMounts,
  procSources,
  readonlyPathsBindable,
  hiddenPathLinks,
  program,
  workingDirectory,
  deviceFiles,
  devicePlaces,
  deviceOwners,
  affinityCpus,
  memoryNodes,
  quotaAboveHost,
  memoryOfHost,
  memoryHierarchy,
  hugepageSizes,
  blockDevices,
  networkNames,
  cgroupFiles,
  pidsForHooks,
  occupiedCgroup,
  realtimeBudget,
  realtimePolicy,
  sysctlFiles,
  hookPrograms,
  filterFeatures,
  listenerSocket,
  sandboxThere,
  sandboxFits,
];

/** @param broken parts of the configuration cannot be looked at */
export function examineHost(spec: Spec, view: BundleView, broken: boolean): readonly Finding[] {
  const findings: Finding[] = [];
  const report = reportInto(findings);
  let files: ReturnType<typeof openContainerFiles>;
  runChecks([openContainerFiles], (open) => (files = open(spec, view)), findings, broken);
  const input = { view, ...(files && { files }) };
  runChecks(HOST_CHECKS, (check) => check(spec, report, input), findings, broken);
  return findings;
}
