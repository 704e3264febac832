/** How large the /dev/shm of a pod is: in a machine it is made in the guest, as large as the one that the engine has made on the host. Pure. */
import { parseMountinfo } from "../../../shared/linux/index.ts";
import { tmpfsBytes } from "../../config/index.ts";
import { cleanTarget, type Spec } from "../../spec/index.ts";
import { isBind } from "./volumes.ts";

/**
 * In KiB, rounded up; undefined: nothing says it.
 * @param mountinfo text of /proc/self/mountinfo
 * @param inBundle makes a path of the configuration absolute: relative ones start in the bundle
 */
export function sharedMemoryKiB(
  { mounts }: Pick<Spec, "mounts">,
  mountinfo: string,
  inBundle: (path: string) => string,
): number | undefined {
  const mount = mounts?.findLast(({ destination }) => cleanTarget(destination) === "/dev/shm");
  if (mount === undefined) return undefined;
  if (!isBind(mount)) return mount.type === "tmpfs" ? kibibytes(mount.options ?? []) : undefined;
  const source = inBundle(mount.source ?? "");
  // If two file systems are mounted at one place, programs see the later one.
  const found = parseMountinfo(mountinfo).findLast(({ point }) => point === source);
  return found?.type === "tmpfs" ? kibibytes(found.ofFilesystem) : undefined;
}

/** tmpfs takes 0 for "no limit", and a machine has to have one. */
function kibibytes(options: readonly string[]): number | undefined {
  const bytes = tmpfsBytes(options) ?? 0;
  return bytes > 0 ? Math.ceil(bytes / 1024) : undefined;
}
