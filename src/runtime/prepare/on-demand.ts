/** What few configurations need is loaded when one does: the others do not pay for it. */
import type * as systemdDriver from "../cgroup/systemd/index.ts";
import { loadSync } from "../host/index.ts";
import type * as networkDevices from "../network/missing/index.ts";
import type * as resourceControl from "../resctrl/index.ts";
import type * as inMachine from "./machine.ts";
import type * as terminalRule from "./require-terminal.ts";

/** For a container with a systemd unit. */
export function systemd(): typeof systemdDriver {
  return loadSync(import("../cgroup/systemd/index.ts"));
}

/** For linux.netDevices. */
export function netDevices(): typeof networkDevices {
  return loadSync(import("../network/missing/index.ts"));
}

/** For linux.intelRdt. */
export function resctrl(): typeof resourceControl {
  return loadSync(import("../resctrl/index.ts"));
}

/** For a container or a process with a terminal, in the foreground. */
export function terminalRules(): typeof terminalRule {
  return loadSync(import("./require-terminal.ts"));
}

/** For a container in a machine. */
export function machines(): typeof inMachine {
  return loadSync(import("./machine.ts"));
}
