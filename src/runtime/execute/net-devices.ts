/** linux.netDevices: into the container's network namespace by create, and back when create fails. delete leaves them where they are. */

import type { OpArgs } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import {
  describeDevice,
  type MovedDevice,
  missingDevice,
  moveBack,
  moveIn,
  type NamespacePair,
  openPair,
  settle,
  takenName,
} from "../network/index.ts";
import { type NetDevicesRecord, writeRecord } from "../state/index.ts";
import type { Execution, NetDeviceMoves } from "./execution.ts";
import { warn } from "./warn.ts";

/** The operation netdevice.move. @throws RuntError "config-invalid" or "operation" */
export function moveNetDevice(execution: Execution, { device, name, namespace }: OpArgs<"netdevice.move">, pointer: string): void {
  try {
    move(execution, device, name, namespace, pointer);
  } catch (error) {
    if (error instanceof RuntError) throw error;
    throw new RuntError("operation", `netdevice.move ${device}: ${wordsOf(error)}`, { pointer, cause: error });
  }
}

function move(execution: Execution, device: string, name: string, namespace: string, pointer: string): void {
  execution.made.netDevices ??= { pair: openPair(`/proc/${execution.running.pid}/ns/net`), devices: [] };
  const { pair, devices } = execution.made.netDevices;
  const moved = describeDevice(pair, device);
  if (moved === undefined) throw missingDevice(device, pointer);
  // The device may have been named by an alternative name, which it keeps beside its own.
  const wanted = name === device ? moved.name : name;
  const taken = takenName(pair, [moved.temporary, ...(wanted.includes("%") ? [] : [wanted])]);
  if (taken !== undefined) {
    throw new RuntError(
      "operation",
      `linux.netDevices: "${device}" cannot be "${taken}": the container's network namespace has a device of this name`,
      { pointer, hint: "append %d to the name, and the kernel makes it unique" },
    );
  }
  devices.push(moved);
  remember(execution, namespace);
  const arrived = { ...moved, index: moveIn(pair, moved) };
  devices[devices.length - 1] = arrived;
  remember(execution, namespace);
  settle(pair, arrived, wanted);
}

/** A namespace that was made for the container ends with it, and what was in it cannot be brought back after a crash. */
function remember({ asked, made }: Execution, namespace: string): void {
  if (namespace === "") return;
  made.record = { ...made.record, netDevices: { namespace, devices: made.netDevices?.devices ?? [] } };
  writeRecord(asked.root, made.record);
}

/** After a failed create. Its own error is what counts; what goes wrong here is a warning. */
export function returnNetDevices({ pair, devices }: NetDeviceMoves): void {
  bringBack(pair, devices);
}

/** After a create that was killed; nothing to do when the namespace has gone. */
export function recoverNetDevices({ namespace, devices }: NetDevicesRecord): void {
  let pair: NamespacePair;
  try {
    pair = openPair(namespace);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EINVAL")) return;
    throw error;
  }
  bringBack(pair, devices);
}

/** The last first, so that names are free again when they are needed. */
function bringBack(pair: NamespacePair, devices: readonly MovedDevice[]): void {
  for (const moved of devices.toReversed()) {
    try {
      moveBack(pair, moved);
    } catch (error) {
      warn(`network device ${moved.name} could not be brought back as it was: ${wordsOf(error)}`);
    }
  }
}

/** With what the kernel says beside the error number. */
function wordsOf(error: unknown): string {
  const { path, syscall } = error as Partial<host.HostError>;
  return syscall === "netlink" && path !== undefined ? `${host.reason(error)} (${path})` : host.reason(error);
}
