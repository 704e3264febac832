import { decodeMountPath } from "../spec/path.ts";
import type { CgroupFacts, CgroupHierarchy } from "./facts.ts";

/** Controllers as /proc/cgroups names them; a v1 mount lists them among its superblock options. */
const CONTROLLERS = new Set([
  "blkio",
  "cpu",
  "cpuacct",
  "cpuset",
  "devices",
  "freezer",
  "hugetlb",
  "memory",
  "misc",
  "net_cls",
  "net_prio",
  "perf_event",
  "pids",
  "rdma",
]);

const USUAL_PLACE = "/sys/fs/cgroup/";

interface CgroupMount extends CgroupHierarchy {
  readonly device: string;
}

/**
 * Find the cgroup mounts in the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
 * A hybrid host, whose cgroup2 tree carries no controller or less than the v1 hierarchies do, counts as v1.
 * For v2 the controllers are left empty: they stand in the tree itself.
 */
export function parseMountinfo(text: string): CgroupFacts {
  const v1: CgroupMount[] = [];
  let v2: CgroupMount | undefined;
  for (const line of cgroupLines(text)) {
    const mount = parseLine(line);
    if (mount === undefined) continue;
    if (line.includes(" - cgroup2 ")) v2 = better(v2, mount);
    else {
      const known = v1.findIndex(({ device }) => device === mount.device);
      if (known < 0) v1.push(mount);
      else v1[known] = better(v1[known], mount);
    }
  }
  const controlled = v1.some(({ controllers }) => controllers.some((name) => CONTROLLERS.has(name)));
  if (v2 !== undefined && !controlled) return { version: 2, hierarchies: [{ mountpoint: v2.mountpoint, controllers: [] }] };
  return { version: 1, hierarchies: v1.map(({ mountpoint, controllers }) => ({ mountpoint, controllers })) };
}

/** Only the lines that matter are cut out: a busy host has hundreds of mounts. */
function* cgroupLines(text: string): Generator<string> {
  for (let at = text.indexOf(" - cgroup"); at >= 0; at = text.indexOf(" - cgroup", at + 1)) {
    const start = text.lastIndexOf("\n", at) + 1;
    const end = text.indexOf("\n", at);
    yield text.slice(start, end < 0 ? text.length : end);
  }
}

/** ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAGS...] - FSTYPE SOURCE SUPEROPTIONS */
function parseLine(line: string): CgroupMount | undefined {
  const parent = line.indexOf(" ") + 1;
  const device = line.indexOf(" ", parent) + 1;
  const root = line.indexOf(" ", device) + 1;
  const place = line.indexOf(" ", root) + 1;
  const end = line.indexOf(" ", place);
  if (parent === 0 || device === 0 || root === 0 || place === 0 || end < 0) return undefined;
  const options = line.slice(line.lastIndexOf(" ") + 1).split(",");
  const controllers = options.filter((option) => CONTROLLERS.has(option) || option.startsWith("name="));
  return { device: line.slice(device, root - 1), mountpoint: decodeMountPath(line.slice(place, end)), controllers };
}

/** The same hierarchy may be mounted again elsewhere, for instance inside another container's root filesystem. */
function better(known: CgroupMount | undefined, other: CgroupMount): CgroupMount {
  if (known === undefined) return other;
  return !known.mountpoint.startsWith(USUAL_PLACE) && other.mountpoint.startsWith(USUAL_PLACE) ? other : known;
}
