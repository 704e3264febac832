/** What a container may leave behind on the host: processes, mounts, cgroups, network interfaces. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Every cgroup that this process' tests make is below this one. No other name begins with it, as one with a longer pid would. */
export const CGROUP_PARENT = `/runt-test-${process.pid}x${Math.random().toString(36).slice(2, 8)}`;

/** One line for each thing found now. A line that is there after a test and not before is a leak. */
export function hostTraces(directory: string): Set<string> {
  return new Set([...containerProcesses(directory), ...mounts(directory), ...cgroups(), ...interfaces()]);
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** include/linux/sched.h */
const PF_KTHREAD = 0x0020_0000;

/** Processes in a test's cgroup, with a root of their own, or working on a test's directory; the dead do not count. */
export function containerProcesses(directory: string): string[] {
  const own = String(process.pid);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== own)
    .flatMap((pid) => {
      const [state, , , , , , flags] =
        attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"))
          ?.replace(/^.*\) /s, "")
          .split(" ") ?? [];
      // Threads of the kernel are nobody's, and half of all that there is.
      if (state === undefined || state === "Z" || state === "X" || (Number(flags) & PF_KTHREAD) !== 0) return [];
      const cgroup = attempt(() => readFileSync(`/proc/${pid}/cgroup`, "utf8")) ?? "";
      const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")) ?? "";
      const root = attempt(() => readlinkSync(`/proc/${pid}/root`)) ?? "/";
      const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? "/";
      return cgroup.includes(CGROUP_PARENT) || root.startsWith(directory) || cwd.startsWith(`${directory}/`) || command.includes(directory)
        ? [`process ${pid} ${command}`]
        : [];
    });
}

function mounts(directory: string): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(directory) || line.includes(CGROUP_PARENT))
    .map((line) => `mount ${line}`);
}

function cgroups(): string[] {
  const walk = (path: string, depth: number): string[] =>
    (attempt(() => readdirSync(path, { withFileTypes: true })) ?? [])
      .filter((entry) => entry.isDirectory() && entry.name !== "process_api")
      .flatMap((entry) => [`cgroup ${path}/${entry.name}`, ...(depth > 0 ? walk(`${path}/${entry.name}`, depth - 1) : [])]);
  // A runtime may make its own tree (crun, runc's default path); the hierarchies themselves are the first level.
  return walk("/sys/fs/cgroup", 3).filter((line) => line.includes(CGROUP_PARENT));
}

/** Names that runt gives to devices while it moves them (src/runtime/network/move.ts). Others may belong to somebody else on the host. */
export const OWN_INTERFACE = /^runt\d+$/;

function interfaces(): string[] {
  return readdirSync("/sys/class/net")
    .filter((name) => OWN_INTERFACE.test(name))
    .map((name) => `interface ${name}`);
}
