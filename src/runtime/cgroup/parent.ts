import { RuntError } from "../errors/index.ts";

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
