/** Every group, in the order of the specification. */
import type { Group } from "./group.ts";
import { annotations } from "./items/annotations.ts";
import { blockIO } from "./items/block-io.ts";
import { bundle } from "./items/bundle.ts";
import { capabilitiesGroup } from "./items/capabilities.ts";
import { cgroupPath } from "./items/cgroup-path.ts";
import { cpu } from "./items/cpu.ts";
import { createContainer, createRuntime, prestart } from "./items/create-hooks.ts";
import { devices } from "./items/devices.ts";
import { devicesAllowed } from "./items/devices-allowed.ts";
import { featuresGroup } from "./items/features.ts";
import { hiddenPaths } from "./items/hidden-paths.ts";
import { hookRules } from "./items/hooks.ts";
import { labels } from "./items/labels.ts";
import { lifecycle } from "./items/lifecycle.ts";
import { mappings } from "./items/mappings.ts";
import { memory } from "./items/memory.ts";
import { mountOptions } from "./items/mount-options.ts";
import { mounts } from "./items/mounts.ts";
import { names } from "./items/names.ts";
import { namespaces } from "./items/namespaces.ts";
import { netDevices } from "./items/net-devices.ts";
import { oomScore } from "./items/oom-score.ts";
import { otherResources } from "./items/other-resources.ts";
import { execution } from "./items/personality.ts";
import { platforms } from "./items/platforms.ts";
import { processGroup } from "./items/process.ts";
import { rlimitsGroup } from "./items/rlimits.ts";
import { root } from "./items/root.ts";
import { scheduling } from "./items/scheduling.ts";
import { seccomp } from "./items/seccomp.ts";
import { poststart, poststop, startContainer } from "./items/start-hooks.ts";
import { sysctls } from "./items/sysctl.ts";
import { userGroup } from "./items/user.ts";
import { version } from "./items/version.ts";

export const GROUPS: readonly Group[] = [
  bundle,
  version,
  root,
  mounts,
  mountOptions,
  processGroup,
  userGroup,
  capabilitiesGroup,
  rlimitsGroup,
  labels,
  oomScore,
  scheduling,
  names,
  hookRules,
  prestart,
  createRuntime,
  createContainer,
  startContainer,
  poststart,
  poststop,
  annotations,
  namespaces,
  mappings,
  devices,
  netDevices,
  cgroupPath,
  devicesAllowed,
  memory,
  cpu,
  blockIO,
  otherResources,
  hiddenPaths,
  sysctls,
  seccomp,
  execution,
  lifecycle,
  featuresGroup,
  platforms,
];
