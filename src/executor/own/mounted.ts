/** What is mounted, in the mount namespace of this process. A link at the name itself leads to somebody else's mount point, and is none. */
import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Device numbers are not enough: a bind mount may be from the same file system. */
export function isMounted(path: string): boolean {
  return mountPoints().includes(placeOf(path));
}

/** The mount points at this path and below it, the deepest last. */
export function mountsIn(path: string): string[] {
  const place = placeOf(path);
  return mountPoints()
    .filter((point) => point === place || point.startsWith(`${place}/`))
    .sort();
}

/** Those below a directory, the deepest last. */
export function mountsBelow(directory: string): string[] {
  const place = placeOf(directory);
  return mountsIn(directory).filter((point) => point !== place);
}

/** The kernel lists mount points without symbolic links. A missing path is no mount point. */
function placeOf(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

function mountPoints(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => unescaped(line.split(" ")[4] ?? ""));
}

/** White space and backslashes are octal escapes. Source: proc_pid_mountinfo(5). */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
