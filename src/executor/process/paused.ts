/** Whether a process is frozen by its cgroup, asked of the kernel: pause and resume may come from anybody. */
import { directoryOfProcess, readIfThere } from "./cgroups.ts";

/** The file of the freezer for this process; undefined where there is none. */
export function freezerFile(pid: number): string | undefined {
  const v1 = directoryOfProcess(pid, "freezer");
  if (v1 !== undefined) return `${v1}/freezer.state`;
  const v2 = directoryOfProcess(pid, "");
  return v2 === undefined ? undefined : `${v2}/cgroup.events`;
}

/** freezer.state of v1 (FROZEN, also when a cgroup above is), `frozen 1` in cgroup.events of v2. */
export function isFrozen(file: string): boolean {
  return /^(FROZEN|frozen 1)$/m.test(readIfThere(file) ?? "");
}
