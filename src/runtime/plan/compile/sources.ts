/** What the intermediate opens or makes before the clone, because init could not: sources of cgroup mounts, filesystems with mapped ids, device nodes. */
import { O, S } from "../../../shared/linux/index.ts";
import { type BindMount, type DeviceNode, type FilesystemMount, type MountIdMap, splitData } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { contextData, unsealedAttributes, unsealedFlags } from "./attributes.ts";
import { openCgroupSources } from "./cgroup-mounts.ts";
import { hasIdMaps, hostId, triples } from "./id-maps.ts";
import type { Scope } from "./scope.ts";

export function openSources(scope: Scope): void {
  const all = scope.sourceActor === "intermediate";
  for (const mount of scope.config.mounts) {
    if (mount.kind === "cgroup" && all) openCgroupSources(scope, mount);
    else if (mount.kind === "bind" && scope.joinsMount) openBind(scope, "intermediate", mount);
    else if (mount.kind === "bind" && mount.idmap) openIdMap(scope, mount, mount.idmap);
    else if (mount.kind === "filesystem" && mount.idmap) mapIds(scope, "intermediate", mount, makeFilesystem(scope, mount), mount.idmap);
  }
  if (all && scope.inUserNamespace) for (const device of scope.config.devices) openDevice(scope, device);
  if (all && !scope.joinsMount && scope.config.mounts.some(({ kind }) => kind === "bind"))
    scope.builder.add("intermediate", "namespaces", "source.serve", {});
}

/**
 * init opens a source when its turn comes: it may be below an earlier mount of the container's. In a mount namespace of somebody else's it could
 * not see the host's files, and the intermediate opens all of them before. Returns the slot of the source, with its ids mapped.
 */
export function openBind(scope: Scope, actor: "intermediate" | "init", mount: BindMount): number {
  const slot = openUnmapped(scope, actor, mount);
  if (mount.idmap) mapIds(scope, actor, mount, slot, mount.idmap);
  return slot;
}

/** Whatever is there is taken. */
const NO_IDENTITY = { device: 0n, inode: 0n };

function openUnmapped({ builder }: Scope, actor: "intermediate" | "init", mount: BindMount): number {
  const slot = builder.slotFor(mount.from);
  const phase = actor === "intermediate" ? "namespaces" : "mounts";
  const { source, recursive, sourceLink, sourceIdentity: { device, inode } = NO_IDENTITY } = mount;
  if (sourceLink === undefined) builder.add(actor, phase, "mount.open", { source, recursive, slot }, mount.from);
  else builder.add(actor, phase, "mount.openLink", { source, recursive, copy: sourceLink === "copy", device, inode, slot }, mount.from);
  return slot;
}

/** With the rights of the host: a filesystem that init makes would belong to its own user namespace, whose ids cannot be mapped again. */
function makeFilesystem(scope: Scope, mount: FilesystemMount): number {
  const slot = scope.builder.slotFor(mount.from);
  const { fstype, source } = mount;
  // There is no mount(2) here to split words: the filesystem is not attached yet.
  const data = contextData(scope, fstype, mount.data.flatMap(splitData));
  const { attrSet, recursiveSet } = unsealedAttributes(mount);
  const flags = { superFlags: unsealedFlags(mount), attrSet: attrSet | recursiveSet };
  scope.builder.add("intermediate", "namespaces", "mount.make", { fstype, source, data, ...flags, slot }, mount.from);
  return slot;
}

function mapIds(scope: Scope, actor: "intermediate" | "init", mount: BindMount | FilesystemMount, slot: number, idmap: MountIdMap): void {
  const userNamespace = openIdMap(scope, mount, idmap);
  const phase = actor === "intermediate" ? "namespaces" : "mounts";
  scope.builder.add(actor, phase, "mount.idmap", { slot, userNamespace, recursive: idmap.recursive }, mount.from);
}

/** Before the clone. Mounts with the same mappings share one user namespace. */
function openIdMap({ builder, host }: Scope, mount: BindMount | FilesystemMount, { source }: MountIdMap): number {
  if (host.rootless) {
    throw new RuntError("not-supported", `mount of "${mount.target}": id-mapped mounts are not supported for rootless containers`, {
      pointer: mount.from,
    });
  }
  const { from } = mount;
  const name = `ids ${JSON.stringify(source)}`;
  const opened = builder.slotOf(name);
  if (opened !== undefined) return opened;
  const slot = builder.slotFor(name);
  if ("path" in source) {
    builder.add("intermediate", "namespaces", "file.open", { path: source.path, flags: O.RDONLY, slot }, from);
  } else {
    const maps = { uidMap: triples(source.uidMappings), gidMap: triples(source.gidMappings) };
    builder.add("intermediate", "namespaces", "idmap.open", { ...maps, slot }, from);
  }
  return slot;
}

/** The name of a device node's slot. */
export function openedDevice(path: string): string {
  return `device ${path}`;
}

/** The default nodes are the host's own. What the configuration asks for is made where its owner is known; a FIFO init can make itself. */
function openDevice(scope: Scope, device: DeviceNode): void {
  const { builder, config } = scope;
  const { path, from, type, major, minor, mode } = device;
  if (type === "p") return;
  const slot = builder.slotFor(openedDevice(path));
  if (from === "" || !hasIdMaps(scope)) {
    builder.add("intermediate", "namespaces", "mount.open", { source: path, recursive: false, slot }, from);
    return;
  }
  const uid = hostId(config.uidMappings, device.uid, `${from}/uid`);
  const gid = hostId(config.gidMappings, device.gid, `${from}/gid`);
  builder.add("intermediate", "namespaces", "device.open", { path, type: DEVICE_TYPE[type], major, minor, mode, uid, gid, slot }, from);
}

/** As mknod(2) has it. */
export const DEVICE_TYPE: Readonly<Record<DeviceNode["type"], number>> = { c: S.IFCHR, b: S.IFBLK, p: S.IFIFO };
