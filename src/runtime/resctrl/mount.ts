import { decodeMountPath } from "../spec/index.ts";

const USUAL_PLACE = "/sys/fs/resctrl";

/**
 * Where the resctrl filesystem is mounted, from the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)): the usual place if it is
 * there, else the first whole mount of it. undefined: nowhere.
 */
export function findResctrl(mountinfo: string): string | undefined {
  let found: string | undefined;
  for (const line of mountinfo.split("\n")) {
    if (!line.includes(" - resctrl ")) continue;
    const [, , , root, place = ""] = line.split(" ");
    if (root !== "/") continue;
    const path = decodeMountPath(place);
    if (path === USUAL_PLACE) return path;
    found ??= path;
  }
  return found;
}
