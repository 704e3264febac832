import { decodeMountPath } from "../spec/path.ts";
import type { CgroupFacts } from "./facts.ts";

/** Controllers as /proc/cgroups names them; a v1 mount lists them among its superblock options. */
export const CONTROLLER_NAMES = "blkio cpu cpuacct cpuset devices freezer hugetlb memory misc net_cls net_prio perf_event pids rdma";
const CONTROLLERS = new Set(CONTROLLER_NAMES.split(" "));

const USUAL_PLACE = "/sys/fs/cgroup/";

interface CgroupMount {
  readonly device: string;
  readonly mountpoint: string;
  readonly controllers: string[];
}

/**
 * Find the cgroup mounts in the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)):
 * ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAGS...] - FSTYPE SOURCE SUPEROPTIONS
 * A hybrid host, whose cgroup2 tree carries no controller or less than the v1 hierarchies do, counts as v1.
 * For v2 the controllers are left empty: they stand in the tree itself.
 */
export function parseMountinfo(text: string): CgroupFacts {
  const v1: CgroupMount[] = [];
  let v2: CgroupMount | undefined;
  let controlled = false;
  // Nothing else is cut out: a busy host has hundreds of mounts.
  for (let at = text.indexOf(" - cgroup"); at >= 0; at = text.indexOf(" - cgroup", at + 1)) {
    const device = text.indexOf(" ", text.indexOf(" ", text.lastIndexOf("\n", at) + 1) + 1) + 1;
    const root = text.indexOf(" ", device) + 1;
    const place = text.indexOf(" ", root) + 1;
    const end = text.indexOf(" ", place);
    // A line with less is none of the kernel's.
    if (end > at) continue;
    const mount: CgroupMount = {
      device: text.slice(device, root - 1),
      mountpoint: decodeMountPath(text.slice(place, end)),
      controllers: [],
    };
    if (text.startsWith("2 ", at + 9)) {
      v2 = better(v2, mount);
      continue;
    }
    for (const option of superOptions(text, at)) {
      const isController = CONTROLLERS.has(option);
      controlled ||= isController;
      if (isController || option.startsWith("name=")) mount.controllers.push(option);
    }
    let known = 0;
    while (known < v1.length && v1[known]!.device !== mount.device) known++;
    v1[known] = better(v1[known], mount);
  }
  if (v2 !== undefined && !controlled) return { version: 2, hierarchies: [{ mountpoint: v2.mountpoint, controllers: [] }] };
  return { version: 1, hierarchies: v1.map(({ mountpoint, controllers }) => ({ mountpoint, controllers })) };
}

/** The last field of the line with a " - " there. */
function superOptions(text: string, at: number): string[] {
  const source = text.indexOf(" ", at + 3) + 1;
  const end = text.indexOf("\n", source);
  return text.slice(text.indexOf(" ", source) + 1, end < 0 ? undefined : end).split(",");
}

/** The same hierarchy may be mounted again elsewhere, for instance inside another container's root filesystem. */
function better(known: CgroupMount | undefined, other: CgroupMount): CgroupMount {
  if (known === undefined) return other;
  return !known.mountpoint.startsWith(USUAL_PLACE) && other.mountpoint.startsWith(USUAL_PLACE) ? other : known;
}
