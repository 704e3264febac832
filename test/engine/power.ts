/** A power cut, as it looks to what runs: see reboot.test.ts. */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { runSync } from "../support/run-sync.ts";
import { type Scene, until } from "./support.ts";

export interface ExecutorRecord {
  readonly id: string;
  readonly phase: string;
  readonly pid: number;
  readonly monitor: { readonly pid: number };
}

/** Of all containers that are on the disk. */
export function executorRecords(scene: Scene): ExecutorRecord[] {
  const executors = join(scene.stateDir, "executors");
  return readdirSync(executors)
    .map((id) => join(executors, id, "record.json"))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, "utf8")) as ExecutorRecord);
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

/** Nobody can write down anything any more. Those that have ended before are what they are. The daemon is dead already. */
export async function cutPower(scene: Scene): Promise<void> {
  const running = executorRecords(scene).filter(({ phase }) => phase !== "exited");
  const pids = [...running.map(({ monitor }) => monitor.pid), ...running.map(({ pid }) => pid)];
  for (const pid of pids) if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGKILL");
  await until(() => !pids.some(isAlive));
  // The pumps of the monitors are in the same cgroups: they end by themselves.
  const cgroups = readdirSync("/sys/fs/cgroup").map((hierarchy) => `/sys/fs/cgroup/${hierarchy}${CGROUP_PARENT}`);
  for (const path of [...cgroups, `/sys/fs/cgroup${CGROUP_PARENT}`]) await until(() => isRemoved(path));
  const run = join(scene.directory, "run");
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? []);
  for (const point of mounts) if (point.startsWith(`${run}/`)) runSync("umount", ["--lazy", point]);
  rmSync(run, { recursive: true, force: true });
}

/** False: a process is still in one of them. */
function isRemoved(path: string): boolean {
  try {
    removeTree(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EBUSY") return false;
    throw error;
  }
}

function removeTree(path: string): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) removeTree(join(path, entry.name));
  rmdirSync(path);
}
