import { RuntError } from "../errors/index.ts";

const DEFAULT_PARENT = "/runt";
const SYSTEMD_FORM = /^[^/:]*:[^/:]*:[^/:]+$/;

/**
 * The cgroup of a container as a path below every hierarchy's mount point: absolute, clean, never the root itself.
 * A relative cgroupsPath counts from the hierarchy's root (as crun does; the specification leaves it open), and `..` cannot climb.
 * @throws RuntError config-invalid when nothing but the root is left, or when the path is meant for systemd (slice:prefix:name).
 */
export function resolveCgroup(cgroupsPath: string, id: string): string {
  if (cgroupsPath === "") return `${DEFAULT_PARENT}/${id}`;
  if (cgroupsPath.includes(":") && SYSTEMD_FORM.test(cgroupsPath)) {
    throw new RuntError("config-invalid", `cgroupsPath "${cgroupsPath}" has systemd's form slice:prefix:name`, {
      pointer: "/linux/cgroupsPath",
      hint: "use --systemd-cgroup, or a path",
    });
  }
  const parts: string[] = [];
  for (const part of cgroupsPath.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  if (parts.length === 0) {
    throw new RuntError("config-invalid", `cgroupsPath "${cgroupsPath}" names the root cgroup`, { pointer: "/linux/cgroupsPath" });
  }
  return `/${parts.join("/")}`;
}
