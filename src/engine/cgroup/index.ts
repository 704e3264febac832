/** The cgroup of a task. It is made with its limits before the first container, and removed after the last one. */

export { checkSystemd, isSlice, makeTaskSlice, parentSlice, removeTaskSlice, removeTaskSlicesOf, taskSlice } from "./slice.ts";
export type { LimitWrite } from "./task-cgroup.ts";
export { CgroupError, limitedPages, makeTaskCgroup, removeEmptyLevels, removeTaskCgroup, removeTaskCgroupsOf } from "./task-cgroup.ts";
