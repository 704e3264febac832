/** Mounts, by descriptor. */
import type { FieldType, OpDefinition } from "../fields.ts";

/**
 * What `mount.bind` and `mount.filesystem` make when the target is absent. notFollowed: like the source, and a symlink at the end of the
 * path is itself the target. withMode: a directory, and the root of the mount takes the mode of the directory it covers if that was there.
 */
export const CREATE = { directory: 0, file: 1, likeSource: 2, never: 3, notFollowed: 4, withMode: 5 } as const;

const MOUNT_ATTRIBUTES = {
  /** MOUNT_ATTR_* to set and to clear on the mount itself. */
  attrSet: "u64",
  attrClear: "u64",
  /** The same, applied to the whole tree (AT_RECURSIVE). */
  recursiveSet: "u64",
  recursiveClear: "u64",
  /** MS_SHARED, MS_SLAVE, MS_PRIVATE or MS_UNBINDABLE, each with or without MS_REC; applied in order after attaching. */
  propagation: "u32s",
} as const satisfies Record<string, FieldType>;

export const MOUNTS = {
  "mount.open": {
    id: 38,
    actors: ["intermediate", "init"],
    doc: "open_tree(OPEN_TREE_CLONE) of a host path into a slot: a detached copy of the mount, with submounts if recursive. Outcome of EACCES and EINVAL (mounts that are locked below it) in init, where there is a source.serve: that opens it; without submounts from the host's mount namespace, if the mount has no flag that would have to be locked.",
    fields: { source: "str", recursive: "bool", slot: "slot" },
  },
  "mount.bind": {
    id: 60,
    actors: ["init"],
    doc: "Attach the detached mount of a slot at a path inside the root, resolved in the root and made if missing (0755 directory, or empty file). Outcome of CREATE.likeSource: a directory for a directory, a file for anything else. Outcome of a slot that holds a link to copy (mount.openLink): the link is made, an existing one with the same text is kept, anything else existing is an error. attrDrop: more MOUNT_ATTR_* bits to clear, that nobody named. Outcome where flags of the source are locked (mount_namespaces(7)): those of attrDrop stay, one of attrClear or another access time is an error. On /proc only a procfs is attached (CVE-2019-16884).",
    fields: { slot: "slot", target: "str", create: "u32", attrDrop: "u64", ...MOUNT_ATTRIBUTES },
  },
  "mount.filesystem": {
    id: 61,
    actors: ["init"],
    doc: "Make a new filesystem instance (fsopen, fsconfig, fsmount; mount(2) where they are refused) and attach it inside the root. data: key or key=value each; a text of several with commas between them goes to mount(2), and the kernel splits it. superFlags: MS_RDONLY, MS_SYNCHRONOUS, MS_DIRSYNC, MS_LAZYTIME, ... of the superblock. inheritMode: a tmpfs takes the mode of the directory it covers, unless data has mode= or that directory was missing and is made. ordinaryDirectory: the target must be reached without any symlink (proc, sysfs).",
    fields: {
      fstype: "str",
      source: "str",
      target: "str",
      data: "strs",
      superFlags: "u64",
      inheritMode: "bool",
      ordinaryDirectory: "bool",
      ...MOUNT_ATTRIBUTES,
    },
  },
  "mount.remount": {
    id: 62,
    actors: ["init"],
    doc: "Change the attributes of the mount that is already at the path; with superblock also its superblock (MS_REMOUNT with data).",
    fields: { target: "str", superblock: "bool", data: "strs", superFlags: "u64", ...MOUNT_ATTRIBUTES },
  },
  "mount.cgroup": {
    id: 108,
    actors: ["init"],
    doc: "Mount cgroup2 inside the root: it shows what the cgroup namespace shows. Outcome of EPERM and EBUSY (the user namespace does not own the cgroup namespace): the directory of the slot is bound, or without a slot an empty read-only tmpfs covers the place.",
    fields: { target: "str", slot: "slot", ...MOUNT_ATTRIBUTES },
  },
  "mount.idmap": {
    id: 123,
    actors: ["intermediate", "init"],
    doc: "Map the ids of a detached mount by the user namespace of a slot (MOUNT_ATTR_IDMAP), with recursive those of the mounts below it too. Outcome: a link to copy has no ids to map.",
    fields: { slot: "slot", userNamespace: "slot", recursive: "bool" },
  },
  "mount.make": {
    id: 124,
    actors: ["intermediate", "init"],
    doc: "Make a new filesystem instance as mount.filesystem does, and keep its detached mount in a slot.",
    fields: { fstype: "str", source: "str", data: "strs", superFlags: "u64", attrSet: "u64", slot: "slot" },
  },
  "mount.openLink": {
    id: 125,
    actors: ["intermediate", "init"],
    doc: "As mount.open, but a symlink at the end of the path is not followed: it is itself what is bound, or with copy what mount.bind makes a copy of. With an inode (not 0) what was opened must be this one on this device (st_dev); error: ESTALE.",
    fields: { source: "str", recursive: "bool", copy: "bool", device: "u64", inode: "u64", slot: "slot" },
  },
  "mount.propagation": {
    id: 142,
    actors: ["intermediate"],
    doc: "Change the propagation of a slot's detached mount and of all below it (MS_* flags), so that it is no peer of the host's mounts when it appears in a running container. Outcome where open_tree(2) or mount_setattr(2) is refused: an error.",
    fields: { slot: "slot", flags: "u32" },
  },
  "mount.detach": {
    id: 143,
    actors: ["init"],
    doc: "umount2(2) with MNT_DETACH of the mount that is at the path, resolved in the root without any symlink. Errors: EINVAL when the path is not the root of a mount, or is that of the container's root.",
    fields: { target: "str" },
  },
} as const satisfies Record<string, OpDefinition>;

/** The root file system. */
export const ROOT = {
  "root.bind": {
    id: 151,
    actors: ["runtime"],
    doc: "A container that shares the caller's mount namespace, and mounts: bind the root file system on itself. The identity of the mount is recorded before it is attached. All other mounts are made in it, and whatever undoes the container detaches this one, with all of them. Without open_tree(2) and move_mount(2) it is an error.",
    fields: { path: "str" },
  },
  "root.propagation": {
    id: 58,
    actors: ["init"],
    doc: "Change the propagation of / of the mount namespace before anything is mounted (MS_* flags).",
    fields: { flags: "u32" },
  },
  "root.open": {
    id: 59,
    actors: ["init"],
    doc: "Make the mount below the root filesystem private, bind the root filesystem onto itself (recursively), and open the new mount O_PATH into slot ROOT. The path may not end in a symlink. inPlace: only open it, in a mount namespace that outlives the container.",
    fields: { path: "str", inPlace: "bool" },
  },
  "root.pivot": { id: 70, actors: ["init"], doc: "pivot_root(2) onto slot ROOT and detach the old root.", fields: {} },
  "root.move": {
    id: 71,
    actors: ["init"],
    doc: "--no-pivot: unmount or cover every procfs and sysfs outside the root filesystem, MS_MOVE it to / and chroot.",
    fields: {},
  },
  "root.finalPropagation": {
    id: 72,
    actors: ["init"],
    doc: "Set the propagation of the new root mount (linux.rootfsPropagation).",
    fields: { flags: "u32" },
  },
  "root.readonly": { id: 73, actors: ["init"], doc: "Make the root mount (not the mounts below it) read-only.", fields: {} },
  "root.enter": {
    id: 77,
    actors: ["init"],
    doc: "chroot(2) into slot ROOT: for a joined mount namespace, where pivot_root would move the root of its other processes.",
    fields: {},
  },
  "root.current": {
    id: 106,
    actors: ["init"],
    doc: "Open a path of the joined mount namespace (/, or the root filesystem of a container without a mount namespace of its own) O_PATH into slot ROOT, and chdir to it.",
    fields: { path: "str" },
  },
} as const satisfies Record<string, OpDefinition>;
