/** Checks that look at the host and at the files of the bundle. In report order. */
import type { Spec } from "../../spec/index.ts";
import { runChecks } from "../examine.ts";
import { type Finding, reportInto } from "../finding.ts";
import { apparmorProfile } from "./apparmor.ts";
import { boundCapabilities } from "./capabilities.ts";
import { openContainerFiles } from "./container-files.ts";
import { affinityCpus, memoryNodes, quotaAboveHost } from "./cpus.ts";
import { workingDirectory } from "./cwd.ts";
import { deviceFiles } from "./devices.ts";
import { readonlyPathsBindable } from "./hidden-paths.ts";
import { hookPrograms } from "./hooks.ts";
import type { HostCheck } from "./host-check.ts";
import { rootOwner, subordinateIds } from "./ids.ts";
import { mountPlaces } from "./mount-places.ts";
import { mountSources } from "./mount-sources.ts";
import { filesystemTypes } from "./mount-types.ts";
import { hostNamespaces, namespaceFiles } from "./namespaces.ts";
import { program } from "./program.ts";
import { realtimeBudget, realtimePolicy } from "./realtime.ts";
import { remountTargets } from "./remounts.ts";
import { blockDevices, cgroupFiles, hugepageSizes, memoryOfHost, networkNames, occupiedCgroup } from "./resources.ts";
import { argumentsOfHost, oomScoreOfCaller, rlimitsOfHost } from "./rlimits.ts";
import { rootFilesystem } from "./rootfs.ts";
import { sandboxFits, sandboxThere } from "./sandbox.ts";
import { filterFeatures, listenerSocket } from "./seccomp.ts";
import { sysctlFiles } from "./sysctl.ts";
import { clocks } from "./time.ts";
import type { HostView } from "./view.ts";

const HOST_CHECKS: readonly HostCheck[] = [
  rootFilesystem,
  rlimitsOfHost,
  argumentsOfHost,
  oomScoreOfCaller,
  boundCapabilities,
  apparmorProfile,
  hostNamespaces,
  namespaceFiles,
  clocks,
  subordinateIds,
  rootOwner,
  filesystemTypes,
  mountSources,
  mountPlaces,
  remountTargets,
  readonlyPathsBindable,
  program,
  workingDirectory,
  deviceFiles,
  affinityCpus,
  memoryNodes,
  quotaAboveHost,
  memoryOfHost,
  hugepageSizes,
  blockDevices,
  networkNames,
  cgroupFiles,
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
export function examineHost(spec: Spec, view: HostView, broken: boolean): readonly Finding[] {
  const findings: Finding[] = [];
  const report = reportInto(findings);
  let files: ReturnType<typeof openContainerFiles>;
  runChecks([openContainerFiles], (open) => (files = open(spec, view)), findings, broken);
  const input = { view, ...(files && { files }) };
  runChecks(HOST_CHECKS, (check) => check(spec, report, input), findings, broken);
  return findings;
}
