/** What a container has of resctrl: found out before anything is done, recorded, and removed at its end. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type GroupRef, monitorExists, pathOf } from "./group.ts";
import { findResctrl } from "./schemata.ts";

const POINTER = "/linux/intelRdt";

/** A container's groups, as its state record names them. */
export interface ResctrlRef extends GroupRef {
  /** A group of the container's own below `group`; undefined: it is not monitored. */
  readonly monitor?: string;
  /** The group was absent before, so that what create made of it can be taken back. */
  readonly made: boolean;
  /** It has a name of its own (closID) and outlives the container. */
  readonly keep: boolean;
}

/**
 * The groups of a container that is to be made.
 * @throws RuntError resctrl when nothing is mounted, or when its monitoring group is there already
 */
export function locateGroups(id: string, closId: string | undefined, monitoring: boolean): ResctrlRef {
  const mount = findResctrl(host.readFile("/proc/self/mountinfo", undefined, true));
  if (mount === undefined)
    throw new RuntError("resctrl", "linux.intelRdt: no resctrl filesystem is mounted", {
      pointer: POINTER,
      hint: "mount -t resctrl resctrl /sys/fs/resctrl",
    });
  return groupsBelow(mount, id, closId, monitoring);
}

export function groupsBelow(mount: string, id: string, closId: string | undefined, monitoring: boolean): ResctrlRef {
  const group = closId === "/" ? "" : (closId ?? id);
  const ref = { mount, group, made: !host.stat(pathOf({ mount, group })), keep: closId !== undefined };
  if (!monitoring) return ref;
  const monitor = `${group === "" ? "" : `${group}/`}mon_groups/${id}`;
  if (host.stat(pathOf({ mount, group: monitor }))) throw monitorExists({ mount, group: monitor }, `${POINTER}/enableMonitoring`);
  return { ...ref, monitor };
}

/**
 * Remove what was made for the container: its monitoring group, and its group unless that has a name of its own. `unborn`: it never
 * came to be, so that a named group goes too if nobody else has joined it.
 */
export function releaseGroups({ mount, group, monitor, made, keep }: ResctrlRef, unborn: boolean): void {
  if (monitor !== undefined) removeGroup(pathOf({ mount, group: monitor }));
  if (!made || (keep && !unborn)) return;
  // Of a create that ended half-way nothing lives any more: tasks in a group of this name are somebody else's.
  if ((keep || unborn) && hasTasks({ mount, group })) return;
  removeGroup(pathOf({ mount, group }));
}

function hasTasks(ref: GroupRef): boolean {
  try {
    return host.readFile(pathOf(ref, "tasks"), undefined, true).trim() !== "";
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

/** The kernel moves what is left in it to the default group. */
function removeGroup(path: string): void {
  try {
    host.rmdir(path);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) throw new RuntError("resctrl", `cannot remove ${path}: ${host.reason(error)}`, { cause: error });
  }
}
