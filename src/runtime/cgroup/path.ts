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

export type CgroupMode = "cgroupfs" | "systemd";

const FLAG = "--cgroup-parent";

/**
 * linux.cgroupsPath of a container that the caller wants below this parent (--cgroup-parent). The container keeps its own name: a
 * relative path as it is, the last part of an absolute one, NAME of systemd's slice:prefix:name; without a path its id.
 * cgroupfs: the parent is an absolute path below every hierarchy. systemd: the parent is a slice.
 * @throws RuntError usage for a parent that is none
 */
export function belowParent(cgroupsPath: string, id: string, parent: string, mode: CgroupMode): string {
  return mode === "systemd" ? unitBelow(cgroupsPath, id, parent) : pathBelow(cgroupsPath, id, parent);
}

function pathBelow(cgroupsPath: string, id: string, parent: string): string {
  const levels = parent.split("/").filter((part) => part !== "" && part !== ".");
  if (!parent.startsWith("/") || levels.length === 0 || levels.includes("..")) {
    throw new RuntError("usage", `${FLAG} ${parent}: not an absolute path of a cgroup other than the root`);
  }
  const own = cgroupsPath.startsWith("/") ? (cgroupsPath.split("/").filter(Boolean).at(-1) ?? "") : cgroupsPath;
  return `/${levels.join("/")}/${own === "" ? id : own}`;
}

function unitBelow(cgroupsPath: string, id: string, parent: string): string {
  if (!/^[^/:]+\.slice$/.test(parent)) throw new RuntError("usage", `${FLAG} ${parent}: not the name of a slice (NAME.slice)`);
  const [, prefix = "runt", name = id] = cgroupsPath === "" ? [] : cgroupsPath.split(":");
  return `${parent}:${prefix}:${name}`;
}
