/** Mounts of the container config. */
import type { From, IdMappings } from "./common.ts";

/** The ids a mount shows: mapped (an entry maps an id of the filesystem to one of the host), or as a joined user namespace maps them. */
export interface MountIdMap {
  readonly source: IdMappings | { readonly path: string };
  /** The mounts below it too. */
  readonly recursive: boolean;
}

/** MOUNT_ATTR_* bits to set and clear, for the mount and for its whole tree; MS_* propagation changes in order. */
export interface MountAttributes {
  readonly attrSet: bigint;
  readonly attrClear: bigint;
  readonly recursiveSet: bigint;
  readonly recursiveClear: bigint;
  readonly propagation: readonly number[];
}

interface MountBase extends From, MountAttributes {
  /** Absolute, inside the container, as written (not cleaned of links). */
  readonly target: string;
}

/** A file, as stat(2) identifies it. */
export interface SourceIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

export interface BindMount extends MountBase {
  readonly kind: "bind";
  /** Absolute host path. */
  readonly source: string;
  readonly recursive: boolean;
  /** MOUNT_ATTR_* bits that are not asked for: cleared if the source has them, unless they are locked there (mount_namespaces(7)). */
  readonly attrDrop: bigint;
  readonly idmap?: MountIdMap;
  /** A symlink that is the source: bound itself, or copied; undefined: followed. */
  readonly sourceLink?: "bind" | "copy";
  /** With sourceLink "bind": the source must be this file. */
  readonly sourceIdentity?: SourceIdentity;
  /** A symlink that is the target is mounted on, and not followed. */
  readonly onLink?: true;
}

export interface FilesystemMount extends MountBase {
  readonly kind: "filesystem";
  readonly fstype: string;
  readonly source: string;
  /** key or key=value, one option each. */
  readonly data: readonly string[];
  /** MS_* flags of the superblock (MS_RDONLY, MS_SYNCHRONOUS, ...). */
  readonly superFlags: bigint;
  /** What the mount covers is copied into it (tmpfs only). */
  readonly copyUp: boolean;
  readonly idmap?: MountIdMap;
}

/** A mount of type cgroup or cgroup2: expanded by compile for the host's cgroup version. */
export interface CgroupMount extends MountBase {
  readonly kind: "cgroup";
  /** Words that are no mount options. v1 has no use for them; v2 knows some (CGROUP2_OPTIONS). */
  readonly data?: readonly string[];
}

export interface RemountMount extends MountBase {
  readonly kind: "remount";
  /** Whether the options name superblock options or data too. */
  readonly superblock: boolean;
  readonly data: readonly string[];
  readonly superFlags: bigint;
}

export type MountConfig = BindMount | FilesystemMount | CgroupMount | RemountMount;
