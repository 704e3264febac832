/**
 * What a kernel has by its version, where the kernel itself offers no list. Asking by a call would be the call itself: `runt check`
 * makes no mount and no namespace. Sources: the VERSIONS and HISTORY sections of the manual pages. Pure.
 */

type Row = readonly [name: string, major: number, minor: number];

/** System calls, and what `clone3:cgroup` stands for: clone3(2) with CLONE_INTO_CGROUP. */
const SYSTEM_CALLS: readonly Row[] = [
  ["seccomp", 3, 17],
  ["memfd_create", 3, 17],
  ["execveat", 3, 19],
  ["pidfd_send_signal", 5, 1],
  ["open_tree", 5, 2],
  ["move_mount", 5, 2],
  ["fsopen", 5, 2],
  ["pidfd_open", 5, 3],
  ["clone3", 5, 3],
  ["openat2", 5, 6],
  ["pidfd_getfd", 5, 6],
  ["clone3:cgroup", 5, 7],
  ["setns:pidfd", 5, 8],
  ["close_range", 5, 9],
  ["mount_setattr", 5, 12],
  ["memfd_create:exec", 6, 3],
];

/** mount_setattr(2), ID-mapped mounts. */
const IDMAPPED: readonly Row[] = [
  ["ext4", 5, 12],
  ["vfat", 5, 12],
  ["xfs", 5, 12],
  ["btrfs", 5, 15],
  ["ntfs3", 5, 15],
  ["f2fs", 5, 18],
  ["erofs", 5, 19],
  ["overlay", 5, 19],
  ["squashfs", 6, 2],
  ["tmpfs", 6, 3],
  ["ceph", 6, 7],
  ["hugetlbfs", 6, 9],
];

/** seccomp(2). */
const SECCOMP_FLAGS: readonly Row[] = [
  ["SECCOMP_FILTER_FLAG_TSYNC", 3, 17],
  ["SECCOMP_FILTER_FLAG_LOG", 4, 14],
  ["SECCOMP_FILTER_FLAG_SPEC_ALLOW", 4, 17],
  ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", 5, 19],
];

export const systemCallsOf = (release: string): string[] => upTo(SYSTEM_CALLS, release);
export const idmappedFilesystemsOf = (release: string): string[] => upTo(IDMAPPED, release);
export const seccompFlagsOf = (release: string): string[] => upTo(SECCOMP_FLAGS, release);

/** "6.1.0-18-amd64" is 6.1. */
function upTo(rows: readonly Row[], release: string): string[] {
  const [, major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(release) ?? []).map(Number);
  return rows.filter(([, from, since]) => major > from || (major === from && minor >= since)).map(([name]) => name);
}
