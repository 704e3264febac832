import { decodeMountPath } from "../spec/index.ts";
import type { CgroupHierarchies, CgroupHierarchy } from "./model.ts";

/** Controllers as /proc/cgroups names them; a v1 mount lists them among its superblock options. */
const CONTROLLERS = new Set(
  "blkio cpu cpuacct cpuset devices freezer hugetlb memory misc net_cls net_prio perf_event pids rdma".split(" "),
);

const USUAL_PLACE = "/sys/fs/cgroup/";

const SIGN = " - cgroup";

/**
 * Find the cgroup mounts in the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)):
 * ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAGS...] - FSTYPE SOURCE SUPEROPTIONS
 * A hybrid host, whose cgroup2 tree carries no controller or less than the v1 hierarchies do, counts as v1.
 * For v2 the controllers are left empty: they stand in the tree itself.
 */
export function parseMountinfo(text: string): CgroupHierarchies {
  const devices: string[] = [];
  const v1: CgroupHierarchy[] = [];
  let v2: CgroupHierarchy | undefined;
  let controlled = false;
  // Nothing else is cut out: a busy host has hundreds of mounts.
  for (let at = text.indexOf(SIGN); at >= 0; at = text.indexOf(SIGN, at + 1)) {
    const end = text.indexOf("\n", at);
    const fields = text.slice(text.lastIndexOf("\n", at) + 1, end < 0 ? undefined : end).split(" ");
    const { length } = fields;
    // A line with less is none of the kernel's.
    if (length < 10) continue;
    const mountpoint = decodeMountPath(fields[4]!);
    if (fields[length - 3] === "cgroup2") {
      v2 = better(v2, { mountpoint, controllers: [] });
      continue;
    }
    const controllers = controllersOf(fields[length - 1]!);
    controlled ||= controllers.length > 0 && !controllers[0]!.startsWith(NAME);
    const device = fields[2]!;
    const known = devices.indexOf(device);
    if (known >= 0) v1[known] = better(v1[known], { mountpoint, controllers });
    else v1[devices.push(device) - 1] = { mountpoint, controllers };
  }
  if (v2 !== undefined && !controlled) return { version: 2, hierarchies: [{ mountpoint: v2.mountpoint, controllers: [] }] };
  return { version: 1, hierarchies: v1 };
}

const NAME = "name=";

/** Those of the superblock's options that are controllers, or the name of the hierarchy. Most hierarchies have one, behind "rw". */
function controllersOf(options: string): readonly string[] {
  const first = options.slice(3);
  return CONTROLLERS.has(first) ? [first] : options.split(",").filter((option) => CONTROLLERS.has(option) || option.startsWith(NAME));
}

/** The same hierarchy may be mounted again elsewhere, for instance inside another container's root filesystem. */
function better(known: CgroupHierarchy | undefined, other: CgroupHierarchy): CgroupHierarchy {
  if (known === undefined) return other;
  return !known.mountpoint.startsWith(USUAL_PLACE) && other.mountpoint.startsWith(USUAL_PLACE) ? other : known;
}
