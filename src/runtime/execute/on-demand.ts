/** What few containers need is loaded when one does: the others do not pay for it. */

import type * as cgroupOfOthers from "../cgroup/end/index.ts";
import type * as systemdDriver from "../cgroup/systemd/index.ts";
import type * as postMortem from "../diagnostics/post-mortem/index.ts";
import { loadSync } from "../host/index.ts";
import type { addHelperWarning } from "./helper-warning.ts";
import type * as networkDevices from "./net-devices.ts";
import type * as filteredStart from "./never-began.ts";
import type * as serviceNotification from "./notification.ts";
import type * as unknownChildren from "./orphans.ts";
import type * as resourceControl from "./resctrl.ts";
import type * as sharedRoot from "./root-mount.ts";
import type * as sizesOfTerminal from "./terminal-sizes.ts";

/** For a container with a systemd unit. */
export function systemd(): typeof systemdDriver {
  return loadSync(import("../cgroup/systemd/index.ts"));
}

/** For a cgroup that was there before its container. */
export function existingCgroup(): typeof cgroupOfOthers {
  return loadSync(import("../cgroup/end/index.ts"));
}

/** For linux.netDevices. */
export function netDevices(): typeof networkDevices {
  return loadSync(import("./net-devices.ts"));
}

/** For linux.intelRdt. */
export function resctrl(): typeof resourceControl {
  return loadSync(import("./resctrl.ts"));
}

/** For a container that mounts in the caller's mount namespace. */
export function rootMount(): typeof sharedRoot {
  return loadSync(import("./root-mount.ts"));
}

/** For a start that has failed. */
export function diagnosis(): typeof postMortem {
  return loadSync(import("../diagnostics/post-mortem/index.ts"));
}

/** For a caller that is a service with NOTIFY_SOCKET. */
export function notification(): typeof serviceNotification {
  return loadSync(import("./notification.ts"));
}

/** For what the helper has left out. */
export function helperWarning(): typeof addHelperWarning {
  return loadSync(import("./helper-warning.ts")).addHelperWarning;
}

/** For an exec that has failed before it knew its process. */
export function orphans(): typeof unknownChildren {
  return loadSync(import("./orphans.ts"));
}

/** For a terminal whose sizes come from a FIFO. */
export function terminalSizes(): typeof sizesOfTerminal {
  return loadSync(import("./terminal-sizes.ts"));
}

/** For a start of a container with a filter. */
export function underFilter(): typeof filteredStart {
  return loadSync(import("./never-began.ts"));
}
