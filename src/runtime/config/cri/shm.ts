/** What is mounted at /dev/shm, which the containers of a pod share. */
import { cleanPath } from "../../spec/index.ts";
import type { MountConfig } from "../types.ts";

/** bytes: of a tmpfs that says so. source: what is bound there; its size is that of its filesystem. */
export type SharedMemory = { readonly bytes: number } | { readonly source: string };

/** tmpfs(5). A share of the memory ("size=50%") depends on the host, and is not known here. */
const SIZE = /^size=(\d{1,15})([kmgKMG]?)$/;
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** undefined: nothing is mounted there, or nothing says how large it is. The last mount is what programs see. */
export function sharedMemory(mounts: readonly MountConfig[]): SharedMemory | undefined {
  const mount = mounts.findLast(({ target }) => cleanPath(target) === "/dev/shm");
  if (mount === undefined) return undefined;
  if (mount.kind === "bind") return { source: mount.source };
  if (mount.kind !== "filesystem" || mount.fstype !== "tmpfs") return undefined;
  const [, number, unit = ""] = mount.data.map((word) => SIZE.exec(word)).findLast((match) => match !== null) ?? [];
  return number === undefined ? undefined : { bytes: Number(number) * (UNITS[unit.toLowerCase()] ?? 1) };
}
