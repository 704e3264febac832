/** How large the /dev/shm of a pod is: in a machine it is made in the guest, as large as the one that the engine has made on the host. Pure. */
import { parseMountinfo } from "../../../shared/linux/index.ts";
import type { Spec } from "../../spec/index.ts";

const PLACE = "/dev/shm";
/** tmpfs(5): a size in bytes, in a unit, or in percent of the memory, which would be that of the host. */
const SIZE = /^size=(\d+)([kmg]?)$/i;
const KIB: Readonly<Record<string, number>> = { "": 1 / 1024, k: 1, m: 1024, g: 1024 ** 2 };

/**
 * In KiB, rounded up; undefined: nothing says it.
 * @param mountinfo text of /proc/self/mountinfo @param inBundle a relative path starts in the bundle
 */
export function sharedMemoryKiB(
  { mounts }: Pick<Spec, "mounts">,
  mountinfo: string,
  inBundle: (path: string) => string,
): number | undefined {
  const mount = mounts?.findLast(({ destination }) => destination.replace(/\/+$/, "") === PLACE);
  if (mount === undefined) return undefined;
  const isBind = mount.type === "bind" || (mount.options ?? []).some((option) => option === "bind" || option === "rbind");
  if (!isBind) return mount.type === "tmpfs" ? sizeIn(mount.options ?? []) : undefined;
  const source = inBundle(mount.source ?? "");
  // Of two at one place the later one is seen.
  const found = parseMountinfo(mountinfo).findLast(({ point }) => point === source);
  return found?.type === "tmpfs" ? sizeIn(found.ofFilesystem) : undefined;
}

function sizeIn(options: readonly string[]): number | undefined {
  const match = options.map((option) => SIZE.exec(option)).findLast((each) => each !== null);
  if (match === undefined || match === null) return undefined;
  const size = Math.ceil(Number(match[1]) * KIB[match[2]!.toLowerCase()]!);
  return size > 0 && Number.isSafeInteger(size) ? size : undefined;
}
