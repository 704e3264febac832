/** config.mounts in order, as operations. */
import type { BindMount, FilesystemMount, MountConfig, RemountMount } from "../../config/types.ts";
import { MOUNT_ATTR, MS } from "../linux.ts";
import { CREATE } from "../ops.ts";
import { attributes, NO_ATTRIBUTES } from "./attributes.ts";
import { addCgroupMount } from "./cgroup-mounts.ts";
import { addLateJoin } from "./cgroups.ts";
import { contextData } from "./mount-label.ts";
import type { Scope } from "./scope.ts";

export function addMounts(scope: Scope): void {
  for (const mount of scope.config.mounts) addMount(scope, mount);
}

function addMount(scope: Scope, mount: MountConfig): void {
  if (mount.kind === "bind") addBind(scope, mount);
  else if (mount.kind === "filesystem") addFilesystem(scope, mount);
  else if (mount.kind === "remount") addRemount(scope, mount);
  else {
    addLateJoin(scope);
    addCgroupMount(scope, mount);
  }
}

function addBind(scope: Scope, mount: BindMount): void {
  const { builder } = scope;
  let slot = scope.openedMounts.get(mount.from);
  if (slot === undefined) {
    slot = builder.slot();
    builder.add("init", "mounts", "mount.open", { source: mount.source, recursive: mount.recursive, slot }, mount.from);
  }
  builder.add("init", "mounts", "mount.bind", { slot, target: mount.target, create: CREATE.likeSource, ...attributes(mount) }, mount.from);
}

function addFilesystem(scope: Scope, mount: FilesystemMount): void {
  const { builder } = scope;
  // A read-only tmpfs takes its mount points and nodes first and is sealed at the end.
  const sealed = isSealedLater(mount);
  const covered = mount.copyUp ? builder.slot() : undefined;
  if (covered !== undefined) builder.add("init", "mounts", "directory.open", { path: mount.target, slot: covered }, mount.from);
  builder.add(
    "init",
    "mounts",
    "mount.filesystem",
    {
      fstype: mount.fstype,
      source: mount.source,
      target: mount.target,
      data: contextData(scope, mount.fstype, mount.data),
      superFlags: sealed ? mount.superFlags & ~BigInt(MS.RDONLY) : mount.superFlags,
      inheritMode: mount.fstype === "tmpfs",
      ordinaryDirectory: mount.fstype === "proc" || mount.fstype === "sysfs",
      ...attributes(mount),
      attrSet: sealed ? mount.attrSet & ~MOUNT_ATTR.RDONLY : mount.attrSet,
    },
    mount.from,
  );
  if (covered !== undefined) builder.add("init", "mounts", "directory.copy", { slot: covered, path: mount.target }, mount.from);
}

function addRemount({ builder }: Scope, mount: RemountMount): void {
  const { target, superblock, data, superFlags } = mount;
  builder.add("init", "mounts", "mount.remount", { target, superblock, data, superFlags, ...attributes(mount) }, mount.from);
}

/** Every tmpfs asked for read-only becomes so after mounts and devices have been put into it. */
export function addSeals({ builder, config }: Scope): void {
  for (const mount of config.mounts) {
    if (!isSealedLater(mount)) continue;
    builder.add(
      "init",
      "devices",
      "mount.remount",
      { target: mount.target, superblock: false, data: [], superFlags: 0n, ...NO_ATTRIBUTES, attrSet: MOUNT_ATTR.RDONLY },
      mount.from,
    );
  }
}

function isSealedLater(mount: MountConfig): boolean {
  return mount.kind === "filesystem" && mount.fstype === "tmpfs" && (mount.attrSet & MOUNT_ATTR.RDONLY) !== 0n;
}
