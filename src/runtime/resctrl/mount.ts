import { parseMountLine } from "../../shared/linux/index.ts";

const USUAL_PLACE = "/sys/fs/resctrl";

/**
 * Where the resctrl filesystem is mounted, from the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)): the usual place if it is
 * there, else the first whole mount of it. undefined: nowhere.
 */
export function findResctrl(mountinfo: string): string | undefined {
  const lines = mountinfo.split("\n").filter((line) => line.includes(" - resctrl "));
  const found = lines.flatMap(parseMountLine).filter(({ root }) => root === "/");
  return (found.find(({ point }) => point === USUAL_PLACE) ?? found[0])?.point;
}
