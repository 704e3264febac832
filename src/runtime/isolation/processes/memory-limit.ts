/** Whether the cgroup that this process is in has a limit of memory of its own: whatever is taken there then is taken from nobody else. */
import { parseMountinfo } from "../../../shared/linux/index.ts";
import * as host from "../../host/index.ts";
import { JAIL } from "../places.ts";

/** Where there is none cgroup v2 has a word, and v1 a number that is nearly 2^63. */
const WITHOUT = 2 ** 62;

/** To be asked where the host's mounts are there. */
export function hasMemoryLimit(): boolean {
  const read = (path: string): string => host.readFile(path, undefined, true);
  const file = limitFile(read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
  if (file === undefined) return false;
  try {
    return isLimit(read(file));
  } catch (error) {
    // The hierarchy has no memory controller here.
    if (host.isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

/** For the processes in the jail, which do not see the host's cgroups. */
export function tellLimit(): void {
  host.writeFile(JAIL.limited, "", host.O.WRONLY | host.O.CREAT | host.O.EXCL, 0o600);
}

export function isToldLimit(): boolean {
  return host.lstat(JAIL.limited) !== undefined;
}

/** Path of the file with the limit of a process, by its two files below /proc; undefined: its cgroup is not to be seen here. */
export function limitFile(cgroups: string, mounts: string): string | undefined {
  // ID:CONTROLLERS:PATH; the path may hold colons.
  const own = [...cgroups.matchAll(/^\d+:([^:]*):(.*)$/gm)];
  const v1 = own.find(([, controllers]) => controllers!.split(",").includes("memory"))?.[2];
  if (v1 !== undefined)
    return fileBelow(mounts, v1, "memory.limit_in_bytes", (type, options) => type === "cgroup" && options.includes("memory"));
  const v2 = own.find(([, controllers]) => controllers === "")?.[2];
  return v2 === undefined ? undefined : fileBelow(mounts, v2, "memory.max", (type) => type === "cgroup2");
}

export function isLimit(text: string): boolean {
  return Number(text.trim() || Number.NaN) < WITHOUT;
}

type IsWanted = (type: string, options: readonly string[]) => boolean;

function fileBelow(mounts: string, path: string, name: string, isWanted: IsWanted): string | undefined {
  for (const { type, root, point, ofFilesystem } of parseMountinfo(mounts)) {
    const below = isWanted(type, ofFilesystem) ? pathBelow(root, path) : undefined;
    if (below !== undefined) return `${point}${below}/${name}`;
  }
  return undefined;
}

/** A mount may show a part of its hierarchy only. */
function pathBelow(root: string, path: string): string | undefined {
  if (root === "/") return path === "/" ? "" : path;
  return path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : undefined;
}
