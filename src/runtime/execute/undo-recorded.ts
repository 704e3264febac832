/** A container is undone by what its record names: delete and gc do it. */
import { isOfAnotherRoot, removeDirectory, type StateRecord } from "../state/index.ts";
import { destroy, killInit } from "./destroy.ts";
import { runPoststop } from "./hooks.ts";
import { recoverNetDevices } from "./net-devices.ts";

/** Undoes everything that a record names, in whatever state it is; under the lock. In a copy of its root that is the directory alone. `tell` as for destroy. */
export function undoRecorded(root: string, record: StateRecord, tell?: Parameters<typeof destroy>[2]): void {
  if (isOfAnotherRoot(root, record)) {
    removeDirectory(root, record.id);
    return;
  }
  killInit(record, root);
  if (record.netDevices) recoverNetDevices(record.netDevices);
  destroy(root, record, tell);
  runPoststop(record);
}
