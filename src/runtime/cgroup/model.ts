/** What the host offers: cgroup version and mounted hierarchies. */

export interface CgroupHierarchy {
  readonly mountpoint: string;
  /** v1: the controllers of this hierarchy, or ["name=systemd"] for a named one. v2: what the root of the tree can hand down. */
  readonly controllers: readonly string[];
}

export interface CgroupHierarchies {
  readonly version: 1 | 2;
  /** v1: every mounted hierarchy once. v2: exactly one. Empty: the host has no cgroup mounted. */
  readonly hierarchies: readonly CgroupHierarchy[];
  /** Hybrid hosts: where the v2 hierarchy is mounted beside those of v1, writable. Containers join it too. */
  readonly unified?: string;
}

/** One hierarchy as a container's cgroup mount shows it. */
export interface CgroupSource {
  /** Where the hierarchy is mounted on the host. */
  readonly mountpoint: string;
  /** Base name of the mount point on the host: "cpu,cpuacct", "systemd", "memory". */
  readonly name: string;
  /** v1: controllers, or the named hierarchy as "name=systemd"; empty for v2. */
  readonly controllers: readonly string[];
  /** The container's directory in this hierarchy, on the host. */
  readonly directory: string;
}

/** The directory of the cgroup `path` (absolute within the hierarchies) in each hierarchy, without the v2 one of a hybrid host. */
export function cgroupDirectories(host: CgroupHierarchies, path: string): string[] {
  return host.hierarchies.map(({ mountpoint }) => mountpoint + path);
}

/** Every directory that a container has, the one in the v2 hierarchy of a hybrid host first: init is cloned into it. */
export function allDirectories({ paths, unified }: CgroupRef): readonly string[] {
  return unified === undefined ? paths : [unified, ...paths];
}

/** Where every hierarchy is mounted, that of v2 on a hybrid host included. */
export function mountpointsOf({ hierarchies, unified }: CgroupHierarchies): string[] {
  const mountpoints = hierarchies.map(({ mountpoint }) => mountpoint);
  return unified === undefined ? mountpoints : [unified, ...mountpoints];
}

export function cgroupSources(host: CgroupHierarchies, path: string): CgroupSource[] {
  return host.hierarchies.map(({ mountpoint, controllers }) => ({
    mountpoint,
    name: mountpoint.slice(mountpoint.lastIndexOf("/") + 1),
    controllers: host.version === 1 ? controllers : [],
    directory: mountpoint + path,
  }));
}

/** A container's cgroup as its state record names it: docs/decisions/0022-state-versions.md says how its fields may change. */
export interface CgroupRef {
  readonly version: 1 | 2;
  /** The container's directory in every hierarchy. */
  readonly paths: readonly string[];
  /** Hybrid hosts: its directory in the v2 hierarchy, which has no limits. A build that does not know of it leaves it behind, empty, for `gc`. */
  readonly unified?: string;
  /** Levels above them that were not there before, or that runt had made: to be removed if empty, even when a crash kept runt from marking them. */
  readonly missing?: readonly string[];
  /** Directories of the container that were there before: they are used and left. */
  readonly kept?: readonly string[];
  /** Processes that the kernel had killed for memory in a kept cgroup before the container came. */
  readonly oomKills?: number;
}

/** What is found of a cgroup before a container gets it. */
export type CgroupBefore = Pick<CgroupRef, "missing" | "kept" | "oomKills">;
