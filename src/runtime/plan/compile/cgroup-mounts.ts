/**
 * A mount of type cgroup. v2: with a cgroup namespace a cgroup2 mount, which shows what the namespace shows: with a new one the container's own
 * cgroup. Where a user namespace may not make it, the same directory is bound. Without a cgroup namespace the host's mount is bound, which shows
 * the whole tree. v1: a tmpfs with one directory a hierarchy, which shows the container's own cgroup either way, and a link for each controller of
 * a co-mounted one.
 */

import { MOUNT_ATTR, MS } from "../../../shared/linux/index.ts";
import { CREATE, NO_SLOT } from "../../../shared/protocol/index.ts";
import { type CgroupMount, cgroup2OptionProblem } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { CgroupMountSource } from "../input.ts";
import { addSeal, attributes, contextData, NO_ATTRIBUTES } from "./attributes.ts";
import type { Scope } from "./scope.ts";

const SAFE = MOUNT_ATTR.NOSUID | MOUNT_ATTR.NODEV | MOUNT_ATTR.NOEXEC;

export function addCgroupMount(scope: Scope, mount: CgroupMount): void {
  if (scope.host.cgroupVersion === 2) {
    if (mount.data) refuseUnknown(mount, mount.data);
    addUnified(scope, mount);
  } else addHierarchies(scope, mount);
}

/** As the kernel would: runc hands it the words. They have no effect on the container's mount, so what is known is left out. */
function refuseUnknown({ target, from }: CgroupMount, data: readonly string[]): void {
  for (const word of data) {
    const problem = cgroup2OptionProblem(target, word);
    if (problem !== undefined)
      throw new RuntError("config-invalid", problem, { pointer: `${from}/options`, finding: "mount-cgroup-option" });
  }
}

/**
 * The directories that init could not open itself, opened by the intermediate (mount.open into slots that the mounts look up). A unit's are not
 * there yet: init opens them once it has been moved.
 */
export function openCgroupSources(scope: Scope, mount: CgroupMount): void {
  if (scope.host.cgroup && "unit" in scope.host.cgroup.join) return;
  for (const source of scope.host.cgroupSources) {
    if (!isBound(scope)) continue;
    openDirectory(scope, "intermediate", mount, source);
  }
}

/** Whether a directory is bound, or for v2 may be. */
function isBound(scope: Scope): boolean {
  if (scope.host.cgroupVersion !== 2) return !scope.isNew("cgroup");
  return (scope.inUserNamespace || showsHost(scope)) && boundDirectory(scope) !== undefined;
}

/**
 * v2: whether the hierarchy is seen as the caller sees it. To mount cgroup2 in the first cgroup namespace sets the options of all its mounts:
 * nsdelegate, memory_recursiveprot and favordynmods of the host would be gone.
 */
function showsHost({ namespace }: Scope): boolean {
  return namespace("cgroup") === undefined;
}

/** v2: what a cgroup2 mount would show. A new cgroup namespace without a cgroup of its own has nothing of the host's to show. */
function boundDirectory({ host, isNew }: Scope): string | undefined {
  const [source] = host.cgroupSources;
  if (!isNew("cgroup")) return source?.mountpoint;
  return host.cgroup ? source?.directory : undefined;
}

function keyOf({ from }: CgroupMount, { name }: CgroupMountSource): string {
  return `${from} ${name}`;
}

function openDirectory(scope: Scope, actor: "intermediate" | "init", mount: CgroupMount, source: CgroupMountSource): number {
  const { builder } = scope;
  const slot = builder.slotFor(keyOf(mount, source));
  const unified = scope.host.cgroupVersion === 2;
  const directory = unified ? boundDirectory(scope)! : source.directory;
  if (!unified && scope.opensTasks) {
    builder.add("init", "mounts", "cgroup.openTree", { path: directory, slot, made: madeWith(scope, directory) }, mount.from);
    return slot;
  }
  builder.add(
    actor,
    actor === "intermediate" ? "namespaces" : "mounts",
    "mount.open",
    { source: directory, recursive: unified, slot },
    mount.from,
  );
  return slot;
}

/** How many cgroups the runtime has made when this one exists. */
function madeWith({ host }: Scope, directory: string): number {
  const { create } = host.cgroup!;
  for (let at = 0; at < create.length; at++) if (create[at]!.path === directory) return at + 1;
  return create.length;
}

/** The slot of the directory to bind. */
function opened(scope: Scope, mount: CgroupMount, source: CgroupMountSource): number {
  return scope.builder.slotOf(keyOf(mount, source)) ?? openDirectory(scope, "init", mount, source);
}

function addUnified(scope: Scope, mount: CgroupMount): void {
  const [source] = scope.host.cgroupSources;
  const slot = source && isBound(scope) ? opened(scope, mount, source) : NO_SLOT;
  const { target, from } = mount;
  // As a mount of its own would be: criu dumps none that receives from one of the host's.
  const propagation = [MS.PRIVATE | MS.REC, ...mount.propagation];
  if (slot !== NO_SLOT && showsHost(scope))
    scope.builder.add(
      "init",
      "mounts",
      "mount.bind",
      { slot, target, create: CREATE.directory, attrDrop: 0n, ...attributes(mount), propagation },
      from,
    );
  else scope.builder.add("init", "mounts", "mount.cgroup", { target, slot, ...attributes(mount) }, from);
}

function addHierarchies(scope: Scope, mount: CgroupMount): void {
  const readonly = mount.attrSet & MOUNT_ATTR.RDONLY;
  const readonlyTree = mount.recursiveSet & MOUNT_ATTR.RDONLY;
  scope.builder.add(
    "init",
    "mounts",
    "mount.filesystem",
    {
      fstype: "tmpfs",
      source: "tmpfs",
      target: mount.target,
      data: contextData(scope, "tmpfs", ["mode=755"]),
      superFlags: 0n,
      inheritMode: false,
      ordinaryDirectory: false,
      ...attributes(mount),
      attrSet: mount.attrSet & ~readonly,
      recursiveSet: mount.recursiveSet & ~readonlyTree,
    },
    mount.from,
  );
  for (const source of scope.host.cgroupSources) addHierarchy(scope, mount, source);
  if ((readonly | readonlyTree) !== 0n) addSeal(scope, "mounts", mount);
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
  } else {
    const slot = opened(scope, mount, source);
    const create = CREATE.directory;
    scope.builder.add("init", "mounts", "mount.bind", { slot, target, create, attrDrop: 0n, ...NO_ATTRIBUTES, attrSet }, mount.from);
  }
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
