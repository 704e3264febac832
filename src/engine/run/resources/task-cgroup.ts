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

  async make(record: TaskRecord): Promise<Made> {
    await this.update(record);
    return {};
  }

  /** The limits may have changed since the cgroup was made, while no container was there to be updated. */
  async prepare(record: TaskRecord): Promise<void> {
    const isFirst = record.containers.every(({ known }) => known !== "RUNNING" && known !== "RESOURCES_PROVISIONED");
    if (record.previous !== null && isFirst) await this.update(record);
  }

  /** An existing cgroup gets the limits. @throws CgroupError */
  async update({ id, spec, cgroup }: TaskRecord): Promise<void> {
    if (cgroup === null) return;
    const { binary, runtimes } = this.#options;
    const limits = taskResources(spec, isInMachine(spec, runtimes));
    if (isSlice(cgroup)) await makeTaskSlice(binary, cgroup, sliceProperties(limits, id));
    else makeTaskCgroup(cgroup, limitWrites(limits, cgroupVersion()));
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
