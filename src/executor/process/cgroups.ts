/** The cgroup hierarchies of the host, and what is in the cgroup of a container. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseMountLine } from "../../shared/linux/index.ts";
import { isShortage, unlessShortage } from "./procfs.ts";

export interface Hierarchy {
  readonly mountpoint: string;
  readonly version: 1 | 2;
  /** v1 only: "cpu", "cpuacct", "name=systemd". */
  readonly controllers: readonly string[];
}

/** From /proc/self/mountinfo. */
export function hierarchies(mountinfo = readFileSync("/proc/self/mountinfo", "utf8")): Hierarchy[] {
  // A host with many containers has many other mounts, and each launch asks.
  const lines = mountinfo.split("\n").filter((line) => line.includes(" - cgroup"));
  return lines.flatMap(parseMountLine).flatMap(({ type, point: mountpoint, ofFilesystem }): Hierarchy[] => {
    if (type === "cgroup2") return [{ mountpoint, version: 2, controllers: [] }];
    if (type !== "cgroup") return [];
    const controllers = ofFilesystem.filter((word) => word !== "rw" && word !== "ro" && !word.includes("release_agent"));
    return [{ mountpoint, version: 1, controllers }];
  });
}

/** Which version has the memory, CPU and pids controllers here. */
export function cgroupVersion(found: readonly Hierarchy[] = hierarchies()): 1 | 2 {
  return found.some(({ version, controllers }) => version === 1 && controllers.some((name) => !name.startsWith("name="))) ? 1 : 2;
}

/** A container's cgroup. */
export interface Cgroup {
  readonly version: 1 | 2;
  /** One directory a hierarchy. */
  readonly paths: readonly string[];
}

/** The directory of a controller; on v2 the one there is. */
export function directoryOf(cgroup: Cgroup, controller: string, found: readonly Hierarchy[] = hierarchies()): string | undefined {
  if (cgroup.version === 2) return cgroup.paths[0];
  return cgroup.paths.find((path) =>
    found.some(({ mountpoint, controllers }) => path.startsWith(`${mountpoint}/`) && controllers.includes(controller)),
  );
}

/** Where a process is in the hierarchy of a controller of v1, or with "" in that of v2, as far as this host has it mounted. */
export function directoryOfProcess(pid: number, controller: string, found: readonly Hierarchy[] = hierarchies()): string | undefined {
  const mounted = found.find(({ version, controllers }) => (controller === "" ? version === 2 : controllers.includes(controller)));
  for (const line of mounted === undefined ? [] : (readIfThere(`/proc/${pid}/cgroup`) ?? "").split("\n")) {
    // ID:CONTROLLERS:PATH; the path may hold colons.
    const [, controllers = "", ...path] = line.split(":");
    if (controllers.split(",").includes(controller)) return `${mounted!.mountpoint}${path.join(":")}`;
  }
  return undefined;
}

/** undefined: it is not there, or cannot be read. @throws EMFILE, ENFILE, ENOMEM: nobody can say */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return unlessShortage(error);
  }
}

/** Host pids in these directories and below, ascending; nested and threaded groups too. @throws as readIfThere */
export function processesIn(paths: readonly string[]): number[] {
  const found = new Set<number>();
  const walk = (directory: string) => {
    const text = readIfThere(`${directory}/cgroup.procs`);
    const pids = text ?? (readIfThere(`${directory}/cgroup.threads`) ?? "").split("\n").map(leaderOf).join("\n");
    for (const line of pids.split("\n")) if (/^[1-9]\d*$/.test(line)) found.add(Number(line));
    for (const entry of list(directory)) walk(`${directory}/${entry}`);
  };
  for (const path of paths) walk(path);
  return [...found].sort((one, other) => one - other);
}

/** Of a thread in a threaded cgroup, the process. */
function leaderOf(thread: string): string {
  return /^Tgid:\s*(\d+)$/m.exec(readIfThere(`/proc/${thread}/status`) ?? "")?.[1] ?? "";
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    return unlessShortage(error) ?? [];
  }
}

/** A cgroup below a container's in one hierarchy, for what one exec starts. */
export interface SubCgroup {
  readonly directory: string;
  /** Device and inode. */
  readonly identity: string;
  /** For `runt exec --cgroup` and `runt kill --cgroup`. */
  readonly flag: string;
}

/** Controllers of v1 that only group processes, or can stop them: the best first. */
const GROUPING = ["freezer", "pids", "name=systemd", "devices"];

/** Where a process is put into a group of its own, whatever its limits are: cgroup v2, else the best hierarchy of v1. `controller` "": of v2. */
export function groupingHierarchy(
  found: readonly Hierarchy[] = hierarchies(),
): { readonly mountpoint: string; readonly controller: string } | undefined {
  const wanted = cgroupVersion(found) === 2 ? [""] : GROUPING;
  for (const controller of wanted) {
    const mounted = found.find(({ version, controllers }) => (controller === "" ? version === 2 : controllers.includes(controller)));
    if (mounted !== undefined) return { mountpoint: mounted.mountpoint, controller };
  }
  return undefined;
}

/** undefined where the host has no hierarchy to make it in, or refuses. */
export function makeSubCgroup(cgroup: Cgroup, name: string): SubCgroup | undefined {
  const found = hierarchies();
  for (const controller of cgroup.version === 2 ? [""] : GROUPING) {
    const parent = directoryOf(cgroup, controller, found);
    if (parent === undefined || !existsSync(parent)) continue;
    try {
      mkdirSync(`${parent}/${name}`);
      return subCgroup(parent, controller, name);
    } catch {}
  }
  return undefined;
}

/** Those that makeSubCgroup, also of another process, has made in the container of this first process. */
export function subCgroupsOf(pid: number): { readonly name: string; readonly sub: SubCgroup }[] {
  const found = hierarchies();
  return (cgroupVersion(found) === 2 ? [""] : GROUPING).flatMap((controller) => {
    const parent = directoryOfProcess(pid, controller, found);
    return (parent === undefined ? [] : list(parent)).map((name) => ({ name, sub: subCgroup(parent!, controller, name) }));
  });
}

function subCgroup(parent: string, controller: string, name: string): SubCgroup {
  const directory = `${parent}/${name}`;
  return { directory, identity: identityOf(directory), flag: controller === "" ? `/${name}` : `${controller}:/${name}` };
}

const REMOVE_PAUSE_MS = 10;

/** Remove it if it is empty, and the one that was made. A cgroup stays busy for a moment after its last process. */
export async function removeSubCgroup({ directory, identity }: SubCgroup): Promise<void> {
  for (let round = 0; round < 20; round++) {
    try {
      // The container's cgroup may have gone, and another one have its name.
      if (identityOf(directory) !== identity) return;
      rmdirSync(directory);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || !isEmptyNow(directory)) return;
      await sleep(REMOVE_PAUSE_MS);
    }
  }
}

/** Whether no process is in it and below. False as well while nobody can say. */
export function isEmptyNow(directory: string): boolean {
  try {
    return processesIn([directory]).length === 0;
  } catch (error) {
    if (!isShortage(error)) throw error;
    return false;
  }
}

function identityOf(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}

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
