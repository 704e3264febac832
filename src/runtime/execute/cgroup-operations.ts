/** The operations that make a container's cgroups and resctrl groups. */
import type { OpArgs } from "../../shared/protocol/index.ts";
import { createCgroup, finishCgroup, markContainer } from "../cgroup/index.ts";
import { startUnit as start, UnitExists } from "../cgroup/systemd/index.ts";
import { makeMonitor, prepareGroup } from "../resctrl/index.ts";
import { type ResctrlRecord, rootDirectory, writeRecord } from "../state/index.ts";
import type { Execution } from "./execution.ts";

/**
 * The first directory that is the container's own says whose it is: `runt gc` finds it when the record is lost, and nobody is killed in one that does
 * not say it. One that was not there when it was looked for, and is now, is somebody else's. (Those of a unit systemd has made for it.)
 */
export function makeCgroup({ asked: { root, progress }, made }: Execution, { path }: OpArgs<"cgroup.create">): void {
  const isNew = createCgroup(path, made.unfinished);
  const { record } = made;
  const { kept, systemd: unit, unified } = record.cgroup ?? {};
  // Those of v1 are counted: init binds each of them as soon as it is there.
  if (path !== unified) progress?.cgroup();
  if (kept?.includes(path)) return;
  if (!isNew && !unit && record.cgroup) {
    made.record = { ...record, cgroup: { ...record.cgroup, kept: [...(kept ?? []), path] } };
    return;
  }
  if (made.marked) return;
  const directory = rootDirectory(root);
  const { id, created } = record;
  markContainer(path, { root, id, ...(directory && { directory, created }), ...(kept && { kept }), ...(unit && { unit: unit.unit }) });
  // Builds that do not know of the v2 directory look for the mark on the first of v1.
  made.marked = path !== unified;
}

export function startUnit(execution: Execution, { properties, withInit, ...unit }: OpArgs<"systemd.startUnit">): void {
  try {
    start(unit, properties, withInit ? execution.running.pid : undefined);
  } catch (error) {
    if (error instanceof UnitExists) disown(execution);
    throw error;
  }
}

/** The cgroup belongs to somebody else: a rollback must not touch it. */
function disown({ asked, made }: Execution): void {
  const { cgroup: _, ...rest } = made.record;
  made.record = rest;
  writeRecord(asked.root, rest);
}

/** init binds a cgroup as soon as it exists. So all of them are made first, and what only a joining process needs comes after. */
export function finishCgroups({ made: { unfinished } }: Execution): void {
  for (const cgroup of unfinished.splice(0)) finishCgroup(cgroup);
}

/*
 * resctrl: the record names only what this container has made, also when another process works on the same group.
 */

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
