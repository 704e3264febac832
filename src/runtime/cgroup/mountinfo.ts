import { decodeMountPath } from "../../shared/linux/index.ts";
import type { CgroupHierarchies, CgroupHierarchy } from "./model.ts";

/** Controllers as /proc/cgroups names them; a v1 mount lists them among its superblock options. */
const CONTROLLERS = new Set(
  "blkio cpu cpuacct cpuset devices freezer hugetlb memory misc net_cls net_prio perf_event pids rdma".split(" "),
);

const USUAL_PLACE = "/sys/fs/cgroup/";

/** Where systemd, runc and crun expect the v2 hierarchy of a hybrid host. */
const HYBRID_PLACE = "/sys/fs/cgroup/unified";

/** Without the space before it, which every field has: what begins with a rare character is found faster. */
const SIGN = "- cgroup";

/**
 * Find the cgroup mounts in the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)):
 * ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAGS...] - FSTYPE SOURCE SUPEROPTIONS
 * A hybrid host, whose cgroup2 tree carries no controller or less than the v1 hierarchies do, counts as v1.
 * Its cgroup2 tree is `unified` when it is at the usual place and writable.
 * For v2 the controllers are left empty: they stand in the tree itself.
 */
export function hierarchiesIn(text: string): CgroupHierarchies {
  const devices: string[] = [];
  const v1: CgroupHierarchy[] = [];
  let v2: CgroupHierarchy | undefined;
  let controlled = false;
  let isHybrid = false;
  let line = 0;
  const hasEscapes = text.includes("\\");
  // Nothing else is cut out: a busy host has hundreds of mounts.
  for (let at = text.indexOf(SIGN); at >= 0; at = text.indexOf(SIGN, at + 1)) {
    // The hierarchies are mostly mounted one after the other.
    let end = text.indexOf("\n", line);
    if (end < at) {
      line = text.lastIndexOf("\n", at) + 1;
      end = text.indexOf("\n", at);
    }
    // The search of the engine is fast, and a function of its own for it would cost more than the search. 0: there is no such field.
    const device = text.indexOf(" ", text.indexOf(" ", line) + 1) + 1;
    const root = text.indexOf(" ", device) + 1;
    const place = text.indexOf(" ", root) + 1;
    const options = text.indexOf(" ", place) + 1;
    const source = text.indexOf(" ", at + SIGN.length) + 1;
    const own = text.indexOf(" ", source) + 1;
    const next = end < 0 ? text.length : end;
    // A line with less is none of the kernel's.
    const isWhole = line < options && options < at && text[at - 1] === " " && source < own && own < next;
    line = next + 1;
    if (!isWhole) continue;
    const given = text.slice(place, options - 1);
    const mountpoint = hasEscapes ? decodeMountPath(given) : given;
    if (text.startsWith("2 ", at + SIGN.length)) {
      // The last one at a place is the one that is seen there.
      if (mountpoint === HYBRID_PLACE) isHybrid = isWritable(text, options, own);
      v2 = better(v2, { mountpoint, controllers: [] });
      continue;
    }
    // Most hierarchies have one controller, behind "rw,".
    const first = text.slice(own + 3, next);
    const controllers = CONTROLLERS.has(first) ? [first] : controllersOf(text.slice(own, next));
    controlled ||= controllers.length > 0 && !controllers[0]!.startsWith(NAME);
    const number = text.slice(device, root);
    const known = devices.indexOf(number);
    if (known >= 0) v1[known] = better(v1[known], { mountpoint, controllers });
    else v1[devices.push(number) - 1] = { mountpoint, controllers };
  }
  if (v2 !== undefined && !controlled) return { version: 2, hierarchies: [{ mountpoint: v2.mountpoint, controllers: [] }] };
  return { version: 1, hierarchies: v1, ...(isHybrid && { unified: HYBRID_PLACE }) };
}

/** Both the mount and the file system can be read-only. */
function isWritable(text: string, options: number, own: number): boolean {
  return text.startsWith("rw", options) && text.startsWith("rw", own);
}

const NAME = "name=";

/** Those of the superblock's options that are controllers, or the name of the hierarchy. */
function controllersOf(options: string): readonly string[] {
  return options.split(",").filter((option) => CONTROLLERS.has(option) || option.startsWith(NAME));
}

/** The same hierarchy may be mounted again elsewhere, for instance inside another container's root filesystem. */
function better(known: CgroupHierarchy | undefined, other: CgroupHierarchy): CgroupHierarchy {
  if (known === undefined) return other;
  return !known.mountpoint.startsWith(USUAL_PLACE) && other.mountpoint.startsWith(USUAL_PLACE) ? other : known;
}
