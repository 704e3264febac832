/** Finds the program that makes a container whose task names a runtime. */
import { PAUSE_NAME, runtimeId, type TaskRecord, taskIdOf } from "../../model/index.ts";
import type { Runtimes } from "../../plan/index.ts";
import { isMachineRuntime } from "../../spec/index.ts";

/**
 * Path of the program; undefined: the usual one. The container that holds shared namespaces is made by the usual one, because other runtimes may not be able to
 * share them. In a virtual machine it has to be there, too: it boots the machine.
 */
export function makerOf(records: ReadonlyMap<string, TaskRecord>, runtimes: Runtimes, id: string): string | undefined {
  const record = records.get(taskIdOf(id));
  const name = record?.spec.runtime;
  if (name === undefined || !Object.hasOwn(runtimes, name)) return undefined;
  const program = runtimes[name]!;
  return isPause(record!, id) && !isMachineRuntime(program) ? undefined : program;
}

function isPause({ id: task }: TaskRecord, id: string): boolean {
  const generation = Number(id.slice(id.lastIndexOf(".") + 1));
  return runtimeId(task, PAUSE_NAME, generation) === id;
}
