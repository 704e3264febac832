/**
 * A mount of type cgroup. v2: the container's own cgroup (a cgroup2 mount in a new cgroup namespace, else a bind of its
 * directory). v1: a tmpfs with one directory a hierarchy and a link for each controller of a co-mounted one.
 */
import type { CgroupMount } from "../../config/types.ts";
import { MOUNT_ATTR } from "../linux.ts";
import { CREATE } from "../ops.ts";
import { attributes, NO_ATTRIBUTES } from "./attributes.ts";
import type { CgroupMountSource } from "./context.ts";
import type { Scope } from "./scope.ts";

const SAFE = MOUNT_ATTR.NOSUID | MOUNT_ATTR.NODEV | MOUNT_ATTR.NOEXEC;

export function addCgroupMount(scope: Scope, mount: CgroupMount): void {
  if (scope.host.cgroupVersion === 2) addUnified(scope, mount);
  else addHierarchies(scope, mount);
}

function addUnified(scope: Scope, mount: CgroupMount): void {
  const source = scope.host.cgroupSources[0];
  if (scope.isNew("cgroup")) {
    scope.builder.add(
      "init",
      "mounts",
      "mount.filesystem",
      {
        fstype: "cgroup2",
        source: "cgroup",
        target: mount.target,
        data: [],
        superFlags: 0n,
        inheritMode: false,
        ordinaryDirectory: false,
        ...attributes(mount),
      },
      mount.from,
    );
  } else if (source) bindDirectory(scope, mount, source.directory, mount.target, mount.attrSet);
}

function addHierarchies(scope: Scope, mount: CgroupMount): void {
  const { builder } = scope;
  const readonly = mount.attrSet & MOUNT_ATTR.RDONLY;
  builder.add(
    "init",
    "mounts",
    "mount.filesystem",
    {
      fstype: "tmpfs",
      source: "tmpfs",
      target: mount.target,
      data: ["mode=755"],
      superFlags: 0n,
      inheritMode: false,
      ordinaryDirectory: false,
      ...attributes(mount),
      attrSet: mount.attrSet & ~readonly,
    },
    mount.from,
  );
  for (const source of scope.host.cgroupSources) addHierarchy(scope, mount, source);
  if (readonly !== 0n) {
    builder.add(
      "init",
      "mounts",
      "mount.remount",
      { target: mount.target, superblock: false, data: [], superFlags: 0n, ...NO_ATTRIBUTES, attrSet: readonly },
      mount.from,
    );
  }
}

function addHierarchy(scope: Scope, mount: CgroupMount, source: CgroupMountSource): void {
  const target = `${mount.target}/${source.name}`;
  const attrSet = SAFE | (mount.attrSet & MOUNT_ATTR.RDONLY);
  if (scope.isNew("cgroup")) {
    scope.builder.add(
      "init",
      "mounts",
      "mount.filesystem",
      {
        fstype: "cgroup",
        source: "cgroup",
        target,
        data: source.controllers,
        superFlags: 0n,
        inheritMode: false,
        ordinaryDirectory: false,
        ...NO_ATTRIBUTES,
        attrSet,
      },
      mount.from,
    );
  } else bindDirectory(scope, mount, source.directory, target, attrSet);
  for (const controller of source.controllers) {
    if (source.controllers.length < 2 || controller === source.name) continue;
    scope.builder.add(
      "init",
      "mounts",
      "symlink.create",
      { path: `${mount.target}/${controller}`, text: source.name, replace: false },
      mount.from,
    );
  }
}

function bindDirectory({ builder }: Scope, mount: CgroupMount, source: string, target: string, attrSet: bigint): void {
  const slot = builder.slot();
  builder.add("init", "mounts", "mount.open", { source, recursive: false, slot }, mount.from);
  builder.add("init", "mounts", "mount.bind", { slot, target, create: CREATE.directory, ...NO_ATTRIBUTES, attrSet }, mount.from);
}
