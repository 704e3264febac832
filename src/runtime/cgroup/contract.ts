/**
 * What a cgroup driver does, from nothing to nothing. `index.ts` is the driver of cgroupfs, for v1 and v2 in one: where they differ, the
 * `version` of what is passed decides, so that no verb pays for the other one. The systemd driver (`systemd/`) makes, limits and removes
 * its units by D-Bus and leaves everything else to this one, on the paths that systemd has chosen. Types only.
 */
import type { ResourceConfig } from "../config/index.ts";
import type { CgroupOptions, CgroupSteps } from "./compile/steps.ts";
import type { UnfinishedCgroup } from "./driver/create.ts";
import type { Join } from "./driver/exec-join.ts";
import type { Left } from "./driver/kill.ts";
import type { OomWatch } from "./driver/oom-watch.ts";
import type { Owner } from "./driver/survey.ts";
import type { CgroupBefore, CgroupFacts, CgroupRef } from "./facts.ts";
import type { Stats } from "./stats/types.ts";

export interface CgroupDriver {
  // ---- pure: what is to be done
  /** Where a container goes, below every hierarchy. @throws RuntError config-invalid */
  resolveCgroup(cgroupsPath: string, id: string): string;
  /** Directories, writes in order, the way in, device rules. @throws RuntError config-invalid or cgroup */
  compileCgroup(facts: CgroupFacts, path: string, resources: ResourceConfig, options: CgroupOptions): CgroupSteps;

  // ---- create: what the plan's operations do
  /** @throws RuntError cgroup when it is in use or frozen */
  refuseUsed(cgroup: CgroupRef): CgroupBefore;
  /** `unfinished` gets the directory if finishCgroup has to be called before a process can join it. Returns whether it is new. */
  createCgroup(directory: string, unfinished?: UnfinishedCgroup[]): boolean;
  finishCgroup(cgroup: UnfinishedCgroup): void;
  writeCgroupFile(path: string, value: string, pointer?: string): void;
  attachDeviceProgram(directory: string, rules: readonly string[]): void;
  /** Returns a warning when the caller has no right to. */
  delegateCgroup(directory: string, uid: number): string | undefined;

  // ---- a container that exists
  /** Where a further process joins. */
  execJoin(cgroup: CgroupRef, init: number, wanted: readonly string[]): Join;
  /** All or nothing. Returns warnings. */
  updateCgroup(cgroup: CgroupRef, resources: ResourceConfig): void;
  freeze(cgroup: CgroupRef): void;
  thaw(cgroup: CgroupRef): void;
  isFrozen(cgroup: CgroupRef): boolean;
  /** Host pids, ascending. */
  cgroupProcesses(cgroup: CgroupRef): number[];
  /** Whom ownership.ts lets it; returns who else is there. */
  signalCgroup(cgroup: CgroupRef, owner: Owner, signal: number): Left;
  readStats(cgroup: CgroupRef): Stats;
  /** undefined: there is no memory controller. */
  watchOom(cgroup: CgroupRef): OomWatch | undefined;

  // ---- the end
  /** Whom ownership.ts lets it; returns who is left. */
  killCgroup(cgroup: CgroupRef, owner: Owner): Left;
  /** What runt made and nobody else uses goes; again is fine. Returns whether others may be in what stays. */
  deleteCgroup(cgroup: CgroupRef, owner: Owner): boolean;
}
