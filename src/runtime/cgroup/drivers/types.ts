import type { CgroupWrite } from "../compile/steps.ts";
import type { Join } from "../driver/exec-join.ts";
import type { Owner } from "../driver/survey.ts";
import type { CgroupRef } from "../model.ts";

/** A unit of systemd's, and the socket by which its manager is reached. */
export interface UnitRef {
  readonly unit: string;
  readonly socket: string;
  readonly direct: boolean;
}

/** A container's cgroup as its state record names it: with the unit that holds it, if there is one. */
export interface HeldCgroup extends CgroupRef {
  readonly systemd?: UnitRef;
}

/** Through systemd, where the caller may not move processes itself. `path`: below the unit. */
export interface Attach {
  readonly attach: UnitRef & { readonly path: string };
}

/** Limits that are still to be written, and how to take back what has been told. */
export interface Told {
  readonly writes: readonly CgroupWrite[];
  undo(): void;
}

/**
 * What depends on the program that manages a container's cgroup (runt itself, or systemd). Directories, limits, marks, signals and statistics are the same for both drivers
 * (`driver`): systemd makes a unit's cgroup, and runt then uses it as its own.
 */
export interface CgroupDriver {
  /** Where a further process joins; `join`: where it would join without systemd. */
  joinFor(cgroup: CgroupRef, join: Join): Join | Attach;
  /** Is told new limits before they are written. */
  tellLimits(cgroup: CgroupRef, writes: readonly CgroupWrite[]): Told;
  /** The processes are about to die, and the cgroup to be given up: begins what that takes, without waiting. */
  approach(): void;
  /** Gives the cgroup up: the container's processes have been killed, its directories are removed next. */
  release(cgroup: CgroupRef, owner: Owner): void;
}
