/** The resctrl operations of a plan. The record names only what this container has made, also when another process works on the same group. */
import type { OpArgs } from "../../shared/protocol/index.ts";
import { makeMonitor, prepareGroup } from "../resctrl/index.ts";
import type { ResctrlRecord } from "../state/index.ts";
import type { Execution } from "./execution.ts";

export { joinGroup, pathOf, releaseGroups } from "../resctrl/index.ts";

export function prepareGroups(execution: Execution, { create, schemata, ...group }: OpArgs<"resctrl.prepare">, pointer: string): void {
  amend(execution, (resctrl) => ({ ...resctrl, made: false }));
  const made = prepareGroup(group, create, schemata, pointer);
  amend(execution, (resctrl) => ({ ...resctrl, made }));
}

export function addMonitor(execution: Execution, ref: OpArgs<"resctrl.monitor">, pointer: string): void {
  amend(execution, ({ monitor: _, ...resctrl }) => resctrl);
  makeMonitor(ref, pointer);
  amend(execution, (resctrl) => ({ ...resctrl, monitor: ref.group }));
}

function amend({ made }: Execution, change: (resctrl: ResctrlRecord) => ResctrlRecord): void {
  const { record } = made;
  if (record.resctrl) made.record = { ...record, resctrl: change(record.resctrl) };
}
