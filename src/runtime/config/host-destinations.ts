/**
 * Destinations of mounts that are paths of the host. runc takes what lies below the root for the container's, and some who write
 * configurations count on it.
 */
import { absolutePath, cleanPath, type Spec } from "../spec/index.ts";
import type { Warning } from "./warnings.ts";

export interface InRoot {
  readonly spec: Spec;
  readonly warnings: readonly Warning[];
}

/** It comes before the checks, which ask where a mount goes. undefined: every destination is the container's, as nearly always. */
export function destinationsInRoot(spec: Spec, bundle: string): InRoot | undefined {
  const { mounts, root } = spec;
  if (!mounts || !root?.path) return undefined;
  const rootfs = absolutePath(bundle, root.path);
  if (rootfs === "/") return undefined;
  const warnings: Warning[] = [];
  const changed = mounts.map((mount, index) => {
    const destination = belowRoot(mount.destination, rootfs);
    if (destination === undefined) return mount;
    warnings.push({
      code: "mount-destination-host",
      pointer: `/mounts/${index}/destination`,
      message: `mount destination "${mount.destination}" is a path of the host below the root and is taken for "${destination}"`,
    });
    return { ...mount, destination };
  });
  return warnings.length === 0 ? undefined : { spec: { ...spec, mounts: changed }, warnings };
}

/** undefined: it does not lie below, whatever it begins with ("/a/rootfs2", "/a/rootfs/../x"). */
function belowRoot(destination: string, rootfs: string): string | undefined {
  const path = cleanPath(destination);
  if (path === rootfs) return "/";
  return path.startsWith(`${rootfs}/`) ? path.slice(rootfs.length) : undefined;
}
