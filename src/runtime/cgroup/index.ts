/** The cgroup layer: facts -> path -> steps (pure), and the effects that make, use and remove a cgroup without systemd. */
export { compileCgroup } from "./compile/index.ts";
export { cgroupProblems } from "./compile/problems.ts";
export type { CgroupOptions, CgroupSteps, CgroupWrite } from "./compile/steps.ts";
export { attachDeviceProgram } from "./devices/attach.ts";
export { signalBelow } from "./driver/below.ts";
export { createCgroup, delegateCgroup, finishCgroup, type UnfinishedCgroup } from "./driver/create.ts";
export { deleteCgroup, deleteEmptyLevel } from "./driver/delete.ts";
export { execJoin } from "./driver/exec-join.ts";
export { awakeStates, freeze, freezeFile, isFrozen, isFrozenToShow, thaw } from "./driver/freeze.ts";
export { killCgroup, type Left, lookAround, signalCgroup, thawForKill } from "./driver/kill.ts";
export { levelsToMake, markedParents } from "./driver/levels.ts";
export { type ContainerMark, isSameRoot, type Marking, markContainer, markFor } from "./driver/mark.ts";
export { findMarked, type Marked, type MarkedCgroup } from "./driver/marks.ts";
export { type MemoryPressure, memoryPressure, type OomWatch, watchOom } from "./driver/oom-watch.ts";
export { type Census, cgroupCensus, cgroupProcesses } from "./driver/processes.ts";
export type { Owner } from "./driver/survey.ts";
export { updateCgroup } from "./driver/update.ts";
export { refuseUsed } from "./driver/used.ts";
export { isAnothers, refuseAnothers, whoseAre } from "./driver/whose.ts";
export { writeCgroupFile } from "./driver/write.ts";
export { isUnified, readHierarchies } from "./hierarchies.ts";
export {
  allDirectories,
  type CgroupBefore,
  type CgroupHierarchies,
  type CgroupHierarchy,
  type CgroupRef,
  type CgroupSource,
  cgroupDirectories,
  cgroupSources,
  mountpointsOf,
} from "./model.ts";
export { hierarchiesIn } from "./mountinfo.ts";
export { belowParent, resolveCgroup } from "./path.ts";
export { statsJson } from "./stats/json.ts";
export { readStats } from "./stats/read.ts";
export type { Stats } from "./stats/types.ts";
