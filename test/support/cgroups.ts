/** Where a process is in the host's cgroups, and what their files say there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const CGROUPS = "/sys/fs/cgroup";
export const isUnified = existsSync(`${CGROUPS}/cgroup.controllers`);
/** False where v2 has none, because the host's are those of v1: no limit can be set there. */
export const hasControllers = !isUnified || /\bmemory\b/.test(readFileSync(`${CGROUPS}/cgroup.controllers`, "utf8"));

/** One limit by its file's name on each version, "memory.max"; the first word is the controller. */
export interface LimitFile {
  readonly v1: string;
  readonly v2: string;
}

/** Directory of the process's cgroup; on v1 in the hierarchy of this controller. */
export function cgroupOf(pid: number | string, controller: string): string {
  for (const line of readFileSync(`/proc/${pid}/cgroup`, "utf8").split("\n")) {
    const [, controllers = "", ...path] = line.split(":");
    if (isUnified ? controllers === "" : controllers.split(",").includes(controller))
      return join(CGROUPS, isUnified ? "" : controllers.replace("name=", ""), path.join(":"));
  }
  throw new Error(`process ${pid} is in no cgroup of ${controller}`);
}

/** Path of this limit's file for a process. */
export function cgroupFile(pid: number | string, { v1, v2 }: LimitFile): string {
  const name = isUnified ? v2 : v1;
  return join(cgroupOf(pid, name.slice(0, name.indexOf("."))), name);
}

export function readLimit(pid: number | string, file: LimitFile): string {
  return readFileSync(cgroupFile(pid, file), "utf8").trim();
}

/** Of `linux.resources`, what needs no controller: on v2, device rules. */
export function withoutLimits(resources: unknown): Record<string, unknown> {
  const { devices } = (resources ?? {}) as { devices?: unknown };
  return devices === undefined ? {} : { devices };
}

/** Every hierarchy's root, that of v2 beside v1 included. */
export const hierarchyRoots: readonly string[] = isUnified
  ? [CGROUPS]
  : readdirSync(CGROUPS)
      .map((name) => join(CGROUPS, name))
      .filter((path) => existsSync(`${path}/cgroup.procs`));

/** Where the v2 hierarchy of a hybrid host is. */
export const UNIFIED_BESIDE = `${CGROUPS}/unified`;
export const isHybrid = !isUnified && existsSync(`${UNIFIED_BESIDE}/cgroup.subtree_control`);
