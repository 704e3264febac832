/** A file of tasks that a user applies: which of them are new. */
import { type Instant, newRecord, type TaskRecord, taskId } from "../model/index.ts";
import { specDigest, type TaskSpec } from "../spec/index.ts";
import { EngineError } from "./errors.ts";

export interface Applied {
  readonly id: string;
  readonly name: string;
  readonly change: "created" | "unchanged";
}

export interface ApplyPlan {
  readonly applied: readonly Applied[];
  readonly records: readonly TaskRecord[];
  /** The last revision that was given out. */
  readonly revision: number;
}

/**
 * All tasks of the file or none. Pure.
 * @param tasks those that there are
 * @param cgroupOf TaskRecord.cgroup of a new one
 * @throws EngineError changed-spec, not-running
 */
export function planApply(
  specs: readonly TaskSpec[],
  group: string,
  tasks: readonly TaskRecord[],
  revision: number,
  at: Instant,
  cgroupOf: (id: string) => string | null,
): ApplyPlan {
  const applied: Applied[] = [];
  const records: TaskRecord[] = [];
  let last = revision;
  for (const spec of specs) {
    const same = tasks.filter((task) => task.group === group && task.name === spec.name);
    const current = same.find(({ desired }) => desired === "RUNNING");
    if (current !== undefined && current.digest !== specDigest(spec)) {
      throw new EngineError("changed-spec", `task ${spec.name} runs with another spec: delete it first`, {
        task: spec.name,
        id: current.id,
      });
    }
    if (current === undefined && same.length > 0) {
      throw new EngineError("not-running", `task ${spec.name} has stopped or is being stopped: delete it first`, {
        task: spec.name,
        id: same[0]!.id,
      });
    }
    if (current !== undefined) {
      applied.push({ id: current.id, name: spec.name, change: "unchanged" });
      continue;
    }
    const id = taskId(group, spec.name, ++last);
    records.push(newRecord({ id, group, spec, cgroup: cgroupOf(id), at }));
    applied.push({ id, name: spec.name, change: "created" });
  }
  return { applied, records, revision: last };
}
