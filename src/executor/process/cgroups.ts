/** The cgroup hierarchies of the host, and what is in the cgroup of a container. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface Hierarchy {
  readonly mountpoint: string;
  readonly version: 1 | 2;
  /** v1 only: "cpu", "cpuacct", "name=systemd". */
  readonly controllers: readonly string[];
}

/** From /proc/self/mountinfo. */
export function hierarchies(mountinfo = readFileSync("/proc/self/mountinfo", "utf8")): Hierarchy[] {
  return mountinfo.split("\n").flatMap((line): Hierarchy[] => {
    const [mount = "", filesystem = ""] = line.split(" - ");
    const [type, , options = ""] = filesystem.split(" ");
    const mountpoint = mount.split(" ")[4]?.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))) ?? "";
    if (type === "cgroup2") return [{ mountpoint, version: 2, controllers: [] }];
    if (type !== "cgroup") return [];
    return [
      {
        mountpoint,
        version: 1,
        controllers: options.split(",").filter((word) => word !== "rw" && word !== "ro" && !word.includes("release_agent")),
      },
    ];
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

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Host pids in these directories and below, ascending; nested and threaded groups too. */
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
  } catch {
    return [];
  }
}

/** A cgroup below a container's in one hierarchy, for what one exec starts. */
export interface SubCgroup {
  readonly directory: string;
  /** For `runt exec --cgroup`. */
  readonly flag: string;
}

/** Controllers of v1 that only group processes, or can stop them: the best first. */
const GROUPING = ["freezer", "pids", "name=systemd", "devices"];

/** undefined where the host has no hierarchy to make it in, or refuses. */
export function makeSubCgroup(cgroup: Cgroup, name: string): SubCgroup | undefined {
  const found = hierarchies();
  for (const controller of cgroup.version === 2 ? [""] : GROUPING) {
    const parent = directoryOf(cgroup, controller, found);
    if (parent === undefined || !existsSync(parent)) continue;
    const directory = `${parent}/${name}`;
    try {
      mkdirSync(directory);
      return { directory, flag: controller === "" ? `/${name}` : `${controller}:/${name}` };
    } catch {}
  }
  return undefined;
}

const KILL_PAUSE_MS = 10;

/** SIGKILL until nobody is left there. False after `boundMs`: something is stuck. */
export async function killCgroup(directory: string, boundMs: number): Promise<boolean> {
  const deadline = performance.now() + boundMs;
  while (processesIn([directory]).length > 0) {
    if (performance.now() > deadline) return false;
    if (!write(`${directory}/cgroup.kill`, "1")) killStopped(directory);
    await sleep(KILL_PAUSE_MS);
  }
  return true;
}

/** Frozen processes cannot fork away; the signal takes effect when they thaw. */
function killStopped(directory: string): void {
  write(`${directory}/freezer.state`, "FROZEN");
  try {
    for (const pid of processesIn([directory])) signalProcess(pid);
  } finally {
    write(`${directory}/freezer.state`, "THAWED");
  }
}

function signalProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function write(path: string, value: string): boolean {
  // cgroupfs would not make it, but a directory that is no cgroup any more must not get a file.
  if (!existsSync(path)) return false;
  try {
    writeFileSync(path, value, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

/** Remove it if it is empty. A cgroup stays busy for a moment after its last process. */
export async function removeSubCgroup({ directory }: SubCgroup): Promise<void> {
  for (let round = 0; round < 20; round++) {
    try {
      rmdirSync(directory);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || processesIn([directory]).length > 0) return;
      await sleep(KILL_PAUSE_MS);
    }
  }
}
