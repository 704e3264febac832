/** Missing mount points of a read-only root, which the guest cannot make: they are made on the host, as for an ordinary container. */
import * as host from "../../host/index.ts";
import type { MountPoint } from "../request.ts";

/** `rootfs`: its path here, where it can be written. What cannot be made is left to the guest, whose mount says then why not. */
export function makeMountPoints(rootfs: string, points: readonly MountPoint[]): void {
  const root = host.open(rootfs, host.O.RDONLY | host.O.DIRECTORY);
  for (const { path, source } of points) makePoint(root, path, source !== undefined && !isDirectory(source));
  host.close(root);
}

function makePoint(root: number, path: string, isFile: boolean): void {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (let depth = 1; depth <= names.length; depth++) {
    const parent = openIn(root, names.slice(0, depth - 1));
    if (parent === undefined) return;
    // The directory is held, and what is made in it follows no link.
    const place = `/proc/self/fd/${parent}/${names[depth - 1]}`;
    try {
      if (isFile && depth === names.length) host.close(host.open(place, host.O.WRONLY | host.O.CREAT | host.O.EXCL, 0o644));
      else host.mkdir(place, 0o755);
    } catch (error) {
      // It is there, or its mount will say why it is not.
      if (!host.isErrno(error, "EEXIST", "EROFS", "EACCES", "ENOTDIR")) throw error;
    } finally {
      host.close(parent);
    }
  }
}

/** Links lead to where they do in the container. */
function openIn(root: number, names: readonly string[]): number | undefined {
  try {
    return host.openInRoot(root, `/${names.join("/")}`, host.O.PATH | host.O.DIRECTORY);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
}

function isDirectory(path: string): boolean {
  return host.stat(`${path}/.`) !== undefined;
}
