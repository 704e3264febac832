/** What a task may ask for and this engine cannot do: refused by name, before anything happens. */
import type { ContainerSpec, TaskSpec } from "../spec/index.ts";

export interface Unsupported {
  /** JSON pointer within the task. */
  readonly pointer: string;
  readonly message: string;
}

const NOT_YET = "is not supported by this version of runtd";

/** One for each field; empty: all of it can be done. */
export function unsupportedIn(task: TaskSpec): Unsupported[] {
  const named = (pointer: string, isUsed: boolean): Unsupported[] => (isUsed ? [{ pointer, message: NOT_YET }] : []);
  return [
    ...named("/cpus", task.cpus !== undefined),
    ...named("/memory", task.memory !== undefined),
    ...named("/pids", task.pids !== undefined),
    ...named("/start", task.start === "always"),
    ...Object.entries(task.namespaces).flatMap(([name, mode]) => named(`/namespaces/${name}`, mode === "shared")),
    ...task.containers.flatMap((container, index) =>
      inContainer(container).map((field) => ({ pointer: `/containers/${index}/${field}`, message: NOT_YET })),
    ),
  ];
}

function inContainer({ bundle, seccomp }: ContainerSpec): string[] {
  return Object.entries({ bundle, seccomp }).flatMap(([field, value]) => (value === undefined ? [] : [field]));
}
