/** Processes that belong to a test, found by what they stand on. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

function attempt(action: () => string): string {
  try {
    return action();
  } catch {
    return "";
  }
}

/** One line for each process in a cgroup below this path, with its root in the directory, or with the directory in its command line. */
export function processesOf(directory: string, cgroup: string): string[] {
  const own = String(process.pid);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== own)
    .flatMap((pid) => {
      // The dead and not yet reaped have no memory and so no command line, but keep their cgroup.
      const state = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /s, "")[0];
      if (state === undefined || state === "Z" || state === "X") return [];
      const groups = attempt(() => readFileSync(`/proc/${pid}/cgroup`, "utf8"));
      const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
      const root = attempt(() => readlinkSync(`/proc/${pid}/root`));
      return groups.includes(cgroup) || root.startsWith(`${directory}/`) || command.includes(`${directory}/`)
        ? [`process ${pid} ${command}`]
        : [];
    });
}
