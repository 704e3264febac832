import { MOUNT_ATTR, MS } from "../../../shared/linux/index.ts";
import type { FilesystemMount, MountAttributes, MountConfig } from "../../config/index.ts";
import type { Scope } from "./scope.ts";

export const NO_ATTRIBUTES: MountAttributes = { attrSet: 0n, attrClear: 0n, recursiveSet: 0n, recursiveClear: 0n, propagation: [] };

export function attributes({ attrSet, attrClear, recursiveSet, recursiveClear, propagation }: MountAttributes): MountAttributes {
  return { attrSet, attrClear, recursiveSet, recursiveClear, propagation };
}

/** Filesystems of the kernel have labels of their own, and mqueue takes none (mount(8), context=). */
const UNLABELLED: ReadonlySet<string> = new Set(["proc", "sysfs", "mqueue", "cgroup", "cgroup2"]);

/** The mount data of a new filesystem with linux.mountLabel, unless they name a context themselves. */
export function contextData({ config }: Scope, fstype: string, data: readonly string[]): readonly string[] {
  const { mountLabel } = config;
  if (mountLabel === undefined || UNLABELLED.has(fstype) || data.some((option) => option.startsWith("context="))) return data;
  return [...data, `context=${mountLabel}`];
}

/** A tmpfs asked for read-only takes its mount points and nodes first, and is sealed at the end. */
export function addSeals(scope: Scope): void {
  for (const mount of scope.config.mounts) if (isSealedLater(mount)) addSeal(scope, "devices", mount);
}

/** Makes a mount read-only that was asked for so. */
export function addSeal({ builder }: Scope, part: "mounts" | "devices", { target, attrSet, recursiveSet, from }: MountConfig): void {
  const attributes = { ...NO_ATTRIBUTES, attrSet: attrSet & MOUNT_ATTR.RDONLY, recursiveSet: recursiveSet & MOUNT_ATTR.RDONLY };
  builder.add("init", part, "mount.remount", { target, superblock: false, data: [], superFlags: 0n, ...attributes }, from);
}

function isSealedLater(mount: MountConfig): boolean {
  return mount.kind === "filesystem" && mount.fstype === "tmpfs" && ((mount.attrSet | mount.recursiveSet) & MOUNT_ATTR.RDONLY) !== 0n;
}

/** The flags of the superblock that it is made with. */
export function unsealedFlags(mount: FilesystemMount): bigint {
  return isSealedLater(mount) ? mount.superFlags & ~BigInt(MS.RDONLY) : mount.superFlags;
}

/** The attributes that it is mounted with. */
export function unsealedAttributes(mount: FilesystemMount): MountAttributes {
  if (!isSealedLater(mount)) return mount;
  const { attrSet, recursiveSet } = mount;
  return { ...attributes(mount), attrSet: attrSet & ~MOUNT_ATTR.RDONLY, recursiveSet: recursiveSet & ~MOUNT_ATTR.RDONLY };
}
