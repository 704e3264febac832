/** config.mounts in order, as operations. */

import { CREATE } from "../../../shared/protocol/index.ts";
import type { BindMount, FilesystemMount, MountConfig, RemountMount } from "../../config/index.ts";
import { attributes, contextData, NO_ATTRIBUTES, unsealedAttributes, unsealedFlags } from "./attributes.ts";
import { addCgroupMount } from "./cgroup-mounts.ts";
import type { Scope } from "./scope.ts";
import { openBind } from "./sources.ts";

export function addMounts(scope: Scope): void {
  const { mounts } = scope.config;
  for (let index = 0; index < mounts.length; index++) addMount(scope, mounts[index]!);
}

function addMount(scope: Scope, mount: MountConfig): void {
  if (mount.kind === "bind") addBind(scope, mount);
  else if (mount.kind === "filesystem") addFilesystem(scope, mount);
  else if (mount.kind === "remount") addRemount(scope, mount);
  else {
    scope.builder.begin("cgroupMounts");
    addCgroupMount(scope, mount);
  }
}

function addBind(scope: Scope, mount: BindMount): void {
  const slot = scope.builder.slotOf(mount.from) ?? openBind(scope, "init", mount);
  const create = mount.onLink ? CREATE.notFollowed : CREATE.likeSource;
  scope.builder.add(
    "init",
    "mounts",
    "mount.bind",
    { slot, target: mount.target, create, attrDrop: mount.attrDrop, ...attributes(mount) },
    mount.from,
  );
}

function addFilesystem(scope: Scope, mount: FilesystemMount): void {
  const { builder } = scope;
  const covered = mount.copyUp ? builder.slot() : undefined;
  if (covered !== undefined) builder.add("init", "mounts", "directory.open", { path: mount.target, slot: covered }, mount.from);
  const made = builder.slotOf(mount.from);
  if (made === undefined) makeFilesystem(scope, mount);
  else attachFilesystem(scope, mount, made);
  if (covered !== undefined) builder.add("init", "mounts", "directory.copy", { slot: covered, path: mount.target }, mount.from);
}

function makeFilesystem(scope: Scope, mount: FilesystemMount): void {
  const { fstype, source, target } = mount;
  scope.builder.add(
    "init",
    "mounts",
    "mount.filesystem",
    {
      fstype,
      source,
      target,
      data: contextData(scope, fstype, mount.data),
      superFlags: unsealedFlags(mount),
      inheritMode: fstype === "tmpfs",
      ordinaryDirectory: fstype === "proc" || fstype === "sysfs",
      ...attributes(unsealedAttributes(mount)),
    },
    mount.from,
  );
}

/** The intermediate has made it, with its attributes. */
function attachFilesystem(scope: Scope, mount: FilesystemMount, slot: number): void {
  const { fstype, target, propagation } = mount;
  const inheritsMode = fstype === "tmpfs" && !mount.data.some((word) => /(?:^|,)mode=/.test(word));
  const create = inheritsMode ? CREATE.withMode : CREATE.directory;
  scope.builder.add("init", "mounts", "mount.bind", { slot, target, create, attrDrop: 0n, ...NO_ATTRIBUTES, propagation }, mount.from);
}

function addRemount({ builder }: Scope, mount: RemountMount): void {
  const { target, superblock, data, superFlags } = mount;
  builder.add("init", "mounts", "mount.remount", { target, superblock, data, superFlags, ...attributes(mount) }, mount.from);
}
