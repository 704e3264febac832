/** The two drivers of a container's cgroup: runt alone (cgroupfs), or systemd with a transient unit. */

import { unitDriver } from "../systemd/index.ts";
import type { CgroupDriver, HeldCgroup } from "./types.ts";

export type { Attach, CgroupDriver, HeldCgroup, Told, UnitRef } from "./types.ts";

/** cgroupfs: no other program manages the cgroup. */
const CGROUPFS: CgroupDriver = {
  joinFor: (_, join) => join,
  tellLimits: (_, writes) => ({ writes, undo: () => {} }),
  approach: () => {},
  release: () => {},
};

/** The driver of a cgroup that a state record names. A container with a unit has that of systemd. */
export function driverOf({ systemd: unit }: HeldCgroup): CgroupDriver {
  return unit ? unitDriver(unit) : CGROUPFS;
}
