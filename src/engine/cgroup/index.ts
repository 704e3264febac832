/** The cgroup of a task. It is made, with its limits, before the first container, and removed after the last one. */
export { CgroupError, makeTaskCgroup, removeEmptyLevels, removeTaskCgroup, removeTaskCgroupsOf } from "./task-cgroup.ts";
export type { LimitWrite } from "./write.ts";
