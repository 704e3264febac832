/** The directory for the logs of a task's containers. */
import { dirname } from "node:path";
import { pruneLogs } from "../../logs/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import type { Incarnation } from "../../plan/index.ts";
import type { Paths } from "../paths.ts";
import { makeTaskDirectory, removeTaskDirectory, type TaskResource } from "./resource.ts";

export class ContainerLogs implements TaskResource {
  readonly name = "logs";
  readonly #paths: Paths;

  constructor(paths: Paths) {
    this.#paths = paths;
  }

  prepare({ id }: TaskRecord, { runtimeId }: Incarnation): void {
    const path = this.#paths.log(id, runtimeId);
    makeTaskDirectory(dirname(path));
    pruneLogs(path);
  }

  async forget(task: string): Promise<void> {
    await removeTaskDirectory(this.#paths.logs(task));
  }
}
