/** Mounts of a container to be restored: what criu has to bind, and the places in the root filesystem that it binds to. */
import type { ContainerConfig } from "../../config/types.ts";
import type { ExternalMount } from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { Plan } from "../../plan/index.ts";
import { cleanPath } from "../../spec/path.ts";

/** Names in the image (mount points, "/dev/null" for masked files) and the host's paths: the plan's bind mounts. */
export function externalSources({ ops }: Plan, { devices }: ContainerConfig): ExternalMount[] {
  const sources = new Map<number, string>();
  const found: ExternalMount[] = [{ key: "/dev/null", value: "/dev/null" }];
  for (const { op, args } of ops) {
    if (op === "mount.open" || op === "mount.openLink") sources.set(args.slot, args.source);
    if (op !== "mount.bind") continue;
    const source = sources.get(args.slot);
    if (source !== undefined) found.push({ key: cleanPath(args.target), value: source });
  }
  // Where nodes cannot be made they are bound (user namespaces).
  return [...found, ...devices.map(({ path }) => ({ key: path, value: path }))];
}

/**
 * Make the mount points that the image's filesystem has and this one may lack, as create does. Returns the names of those that a link leads
 * elsewhere: the image has them by their real place.
 */
export function prepareMountpoints({ rootfs, mounts }: ContainerConfig): ReadonlyMap<string, string> {
  const root = host.open(rootfs, host.O.PATH | host.O.DIRECTORY);
  const real = new Map<string, string>();
  const above: string[] = [];
  try {
    const prefix = host.readlink(`/proc/self/fd/${root}`);
    for (const mount of mounts) {
      const target = cleanPath(mount.target);
      // What is below another mount comes with that one.
      if (target === "/" || mount.kind === "remount" || above.some((path) => target.startsWith(`${path}/`))) continue;
      above.push(target);
      const isFile = mount.kind === "bind" && ((host.stat(mount.source)?.mode ?? 0) & host.S.IFMT) !== host.S.IFDIR;
      const fd = openMade(root, target, isFile);
      const place = host.readlink(`/proc/self/fd/${fd}`);
      host.close(fd);
      if (prefix !== "/" && place.startsWith(`${prefix}/`) && place !== prefix + target) real.set(target, place.slice(prefix.length));
    }
  } finally {
    host.close(root);
  }
  return real;
}

/** Every step resolved in the root: the filesystem is the container's. */
function openMade(root: number, path: string, isFile: boolean): number {
  try {
    return host.openInRoot(root, path, host.O.PATH);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) throw unusable(path, error);
  }
  const slash = path.lastIndexOf("/");
  const parent = openMade(root, slash === 0 ? "/" : path.slice(0, slash), false);
  try {
    // The last component of what mkdir and O_EXCL make is never followed.
    const place = `/proc/self/fd/${parent}/${path.slice(slash + 1)}`;
    if (isFile) host.writeFile(place, "", host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW, 0o644);
    else host.mkdir(place, 0o755);
    return host.openInRoot(root, path, host.O.PATH);
  } catch (error) {
    throw unusable(path, error);
  } finally {
    host.close(parent);
  }
}

function unusable(path: string, error: unknown): RuntError {
  return new RuntError("operation", `mount point ${path}: ${host.reason(error)}`, { pointer: "/mounts", cause: error });
}
