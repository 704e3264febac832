/** A container is undone by what its record names: delete and gc do it. */
import type { StateRecord } from "../state/index.ts";
import { destroy, killInit } from "./destroy.ts";
import { runPoststop } from "./hooks.ts";
import { netDevices } from "./on-demand.ts";

/** All that a record names, whatever became of it; under the lock. `tell`: as destroy has it. */
export function undoRecorded(root: string, record: StateRecord, tell?: Parameters<typeof destroy>[2]): void {
  killInit(record);
  if (record.netDevices) netDevices().recoverNetDevices(record.netDevices);
  destroy(root, record, tell);
  runPoststop(record);
}
