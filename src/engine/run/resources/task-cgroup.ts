/** The cgroup of a task, which has its limits. */
import { cgroupVersion } from "../../../executor/index.ts";
import {
  isSlice,
  makeTaskCgroup,
  makeTaskSlice,
  removeEmptyLevels,
  removeTaskCgroup,
  removeTaskCgroupsOf,
  removeTaskSlice,
  removeTaskSlicesOf,
} from "../../cgroup/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { isInMachine, limitWrites, type Runtimes, sliceProperties, taskResources } from "../../plan/index.ts";
import type { Made, TaskResource } from "./resource.ts";

export interface TaskCgroupsOptions {
  /** Path of the runt executable. */
  readonly binary: string;
  /** Parent cgroup of all tasks: a directory, or a slice of systemd. */
  readonly cgroupParent: string;
  readonly runtimes: Runtimes;
}

export class TaskCgroups implements TaskResource {
  readonly name = "cgroup";
  readonly #options: TaskCgroupsOptions;

  constructor(options: TaskCgroupsOptions) {
    this.#options = options;
  }

  owns(member: string): boolean {
    return member === "cgroup";
  }

  async make({ id, spec, cgroup }: TaskRecord): Promise<Made> {
    const { binary, runtimes } = this.#options;
    const limits = taskResources(spec, isInMachine(spec, runtimes));
    if (isSlice(cgroup!)) await makeTaskSlice(binary, cgroup!, sliceProperties(limits, id));
    else makeTaskCgroup(cgroup!, limitWrites(limits, cgroupVersion()));
    return {};
  }

  async unmake({ cgroup }: TaskRecord): Promise<void> {
    await (isSlice(cgroup!) ? removeTaskSlice(this.#options.binary, cgroup!) : removeTaskCgroup(cgroup!));
  }

  async forget(task: string, record: TaskRecord | undefined): Promise<void> {
    const { binary, cgroupParent } = this.#options;
    const hasSlices = isSlice(cgroupParent);
    if (record === undefined) await (hasSlices ? removeTaskSlicesOf(binary, cgroupParent, task) : removeTaskCgroupsOf(cgroupParent, task));
    if ((record?.cgroup ?? null) === null && !hasSlices) removeEmptyLevels(cgroupParent);
  }
}
