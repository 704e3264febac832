/** The cgroup of a task: made with its limits before any of its containers, and removed after the last. */
export { CgroupError, makeTaskCgroup, removeEmptyLevels, removeTaskCgroup } from "./task-cgroup.ts";
export type { LimitWrite } from "./write.ts";
