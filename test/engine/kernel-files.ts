/** What the kernel says of tasks and containers, for tests: the engine is not asked. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { cgroupVersion, directoryOfProcess, hierarchies } from "../../src/executor/process/cgroups.ts";

export const CGROUP_VERSION = cgroupVersion();

/** A file of the cgroup that a process is in, or `above` levels above it. */
export function cgroupFile(pid: number, controller: string, file: string, above = 0): string {
  const directory = directoryOfProcess(pid, CGROUP_VERSION === 1 ? controller : "");
  if (directory === undefined) throw new Error(`process ${pid} is in no cgroup of ${controller}`);
  return readFileSync(join(directory, ...Array.from({ length: above }, () => ".."), file), "utf8").trim();
}

/** The directory of a process in every hierarchy that is mounted here. */
export function placesOf(pid: number): string[] {
  return hierarchies()
    .filter(({ version }) => version === CGROUP_VERSION)
    .flatMap(({ controllers: [controller = ""] }) => directoryOfProcess(pid, controller) ?? []);
}

/** "mnt:[4026531841]" */
export function namespaceOf(pid: number, name: "pid" | "ipc" | "net" | "uts" | "mnt"): string {
  return readlinkSync(`/proc/${pid}/ns/${name}`);
}

/** Fields of /proc/PID/status. */
export function statusOf(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, "utf8").trimEnd().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
}

/** Directories with this in their name, and those below them, in every hierarchy of the host; a directory comes before what is in it. */
export function cgroupsNamed(text: string): string[] {
  const walk = (directory: string, depth: number, isBelow: boolean): string[] =>
    childrenOf(directory).flatMap((name) => {
      const path = join(directory, name);
      const isOne = isBelow || name.includes(text);
      return [...(isOne ? [path] : []), ...(depth > 0 || isOne ? walk(path, depth - 1, isOne) : [])];
    });
  return walk("/sys/fs/cgroup", 2, false);
}

/** Others' go at any moment. */
function childrenOf(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && entry.name !== "process_api").map(({ name }) => name);
  } catch {
    return [];
  }
}
