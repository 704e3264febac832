/** The end of a container's cgroup, and what others have or have left: the part of the cgroup layer that an ordinary create does without. */
export { deleteCgroup, deleteEmptyLevel } from "../driver/delete.ts";
export { killCgroup, type Left, lookAround, signalCgroup, thawForKill } from "../driver/kill.ts";
export { type ContainerMark, isSameRoot, markFor } from "../driver/mark.ts";
export { findMarked, type Marked, type MarkedCgroup } from "../driver/marks.ts";
export type { Owner } from "../driver/survey.ts";
export { refuseUsed } from "../driver/used.ts";
