/** Mount points of a container that is restored: in the root filesystem, and in bound directories. */
import { MOUNT_ATTR } from "../../../shared/linux/index.ts";
import type { BindMount, ContainerConfig, MountConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { cleanPath } from "../../spec/index.ts";

/** A mount point that was looked up, and the mount there. */
interface Covered {
  /** The mount point as the configuration has it, and its real path. */
  readonly names: readonly string[];
  readonly mount: MountConfig;
}

/**
 * Make the mount points that the image's filesystems have and these may lack, as create does; nothing in what is bound read-only. Returns the
 * real places of those that a link leads elsewhere.
 */
export function prepareMountpoints({ rootfs, mounts }: ContainerConfig): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const covered: Covered[] = [];
  for (const mount of mounts) {
    const target = cleanPath(mount.target);
    if (target === "/" || mount.kind === "remount" || isCopiedLink(mount)) continue;
    const [above, name] = coverOf(covered, target);
    const real = above ? prepareBelow(above, name, target, mount) : prepare(rootfs, target, mount, false);
    if (real !== undefined && real !== target) places.set(target, real);
    covered.push({ names: real === undefined ? [target] : [target, real], mount });
  }
  return places;
}

function isCopiedLink(mount: MountConfig): boolean {
  return mount.kind === "bind" && mount.sourceLink === "copy" && typeOf(host.lstat(mount.source)) === host.S.IFLNK;
}

/** The mount that a path is in, and which of its names the path begins with. The latest one lies on top of the others. */
function coverOf(covered: readonly Covered[], target: string): [Covered | undefined, string] {
  const above = covered.findLast(({ names }) => names.some((name) => target.startsWith(`${name}/`)));
  return [above, above?.names.find((name) => target.startsWith(`${name}/`)) ?? ""];
}

/** Filesystems of the container's own come with the image, with the mount points in them. Returns the real place. */
function prepareBelow({ names, mount: above }: Covered, name: string, target: string, mount: MountConfig): string | undefined {
  if (above.kind !== "bind") return undefined;
  return names.at(-1)! + prepare(above.source, target.slice(name.length), mount, isReadonly(above));
}

function isReadonly({ attrSet, recursiveSet }: BindMount): boolean {
  return ((attrSet | recursiveSet) & MOUNT_ATTR.RDONLY) !== 0n;
}

/** Returns the real place of a path in a directory, from there. */
function prepare(directory: string, path: string, mount: MountConfig, readonly: boolean): string {
  const isFile = mount.kind === "bind" && typeOf(host.stat(mount.source)) !== host.S.IFDIR;
  const root = openRoot(directory, mount);
  try {
    const prefix = host.readlink(`/proc/self/fd/${root}`);
    const fd = openMade({ root, readonly, target: mount.target }, path, isFile);
    const place = host.readlink(`/proc/self/fd/${fd}`);
    host.close(fd);
    if (prefix === "/") return place;
    return place.startsWith(`${prefix}/`) ? place.slice(prefix.length) : path;
  } finally {
    host.close(root);
  }
}

/** The root filesystem, or a directory of the host's that is bound: itself. */
function openRoot(rootfs: string, { target }: MountConfig): number {
  try {
    return host.open(rootfs, host.O.PATH | host.O.DIRECTORY);
  } catch (error) {
    throw unusable(target, error);
  }
}

interface Place {
  readonly root: number;
  readonly readonly: boolean;
  /** For messages. */
  readonly target: string;
}

/** Every step resolved in the root: the filesystem is the container's. */
function openMade(place: Place, path: string, isFile: boolean): number {
  const { root, readonly, target } = place;
  try {
    return host.openInRoot(root, path, host.O.PATH);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) throw unusable(target, error);
  }
  if (readonly) throw absent(target);
  const slash = path.lastIndexOf("/");
  const parent = openMade(place, slash === 0 ? "/" : path.slice(0, slash), false);
  try {
    // The last component of what mkdir and O_EXCL make is never followed.
    const made = `/proc/self/fd/${parent}/${path.slice(slash + 1)}`;
    if (isFile) host.writeFile(made, "", host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW, 0o644);
    else host.mkdir(made, 0o755);
    return host.openInRoot(root, path, host.O.PATH);
  } catch (error) {
    throw unusable(target, error);
  } finally {
    host.close(parent);
  }
}

function typeOf(found: host.Stat | undefined): number {
  return (found?.mode ?? 0) & host.S.IFMT;
}

function absent(target: string): RuntError {
  return new RuntError("operation", `mount point ${target}: not there, and what is bound above it is read-only`, { pointer: "/mounts" });
}

function unusable(target: string, error: unknown): RuntError {
  return new RuntError("operation", `mount point ${target}: ${host.reason(error)}`, { pointer: "/mounts", cause: error });
}
