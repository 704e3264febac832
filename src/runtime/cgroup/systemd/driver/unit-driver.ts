import * as host from "../../../host/index.ts";
import { awaitOnlyOwn } from "../../driver/kill.ts";
import { markFor } from "../../driver/mark.ts";
import type { CgroupDriver, UnitRef } from "../../drivers/types.ts";
import { approach } from "./connect.ts";
import { hybridProcesses } from "./hybrid.ts";
import { mayMigrate } from "./migrate.ts";
import { isUnitAt, stopUnit, updateUnit } from "./unit.ts";

/** For the init of a create that was killed before it made the mark: it ends by itself, on a busy host a little later. */
const PATIENCE_MS = 300;

/** The driver of a container that this transient unit holds. */
export function unitDriver(unit: UnitRef): CgroupDriver {
  return {
    joinFor({ paths }, join) {
      const [path = ""] = paths;
      if ("tasks" in join) return { tasks: [...join.tasks, ...hybridProcesses(path)] };
      if (host.geteuid() === 0 || mayMigrate(join.directory)) return join;
      // A user whose session lies outside of the user manager's cgroups can only be moved by systemd.
      return { attach: { ...unit, path: join.directory.slice(path.length) || "/" } };
    },
    tellLimits: (cgroup, writes) => updateUnit(unit, cgroup, writes),
    approach: () => approach(unit),
    /** Stopping a unit kills all processes in it. Without a mark that proves the owner, only an empty unit at the recorded place is stopped. */
    release(cgroup, owner) {
      const [path = ""] = cgroup.paths;
      if (markFor(path, owner.mark) !== "own" && !(awaitOnlyOwn(cgroup, owner, PATIENCE_MS) && isUnitAt(unit, path))) return;
      stopUnit(unit);
    },
  };
}
