/** The mounts of the host, without those that others on it make and remove during the test. */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";

/** Directories in which engines, services and other tests have mounts. */
const OF_OTHERS = [tmpdir(), "/tmp", "/run", "/var", "/snap"];

/** Lines of /proc/self/mountinfo (proc_pid_mountinfo(5)) that only a test with these directories can change. */
export function hostMounts(...directories: readonly string[]): string[] {
  return mountsOf("self", ...directories);
}

/** The same of another process. Throws ENOENT when it is not there. */
export function mountsOf(pid: number | "self", ...directories: readonly string[]): string[] {
  const isBelow = (point: string) => (place: string) => point.startsWith(`${place}/`);
  return readFileSync(`/proc/${pid}/mountinfo`, "utf8")
    .trim()
    .split("\n")
    .filter((line) => {
      const point = line.split(" ")[4] ?? "";
      return directories.includes(point) || directories.some(isBelow(point)) || !OF_OTHERS.some(isBelow(point));
    });
}
