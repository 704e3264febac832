/** Flags of clone(2), unshare(2) and setns(2) (linux/sched.h), by the names of the OCI specification. */
export const CLONE_NEW = {
  time: 0x80,
  mount: 0x2_0000,
  cgroup: 0x200_0000,
  uts: 0x400_0000,
  ipc: 0x800_0000,
  user: 0x1000_0000,
  pid: 0x2000_0000,
  network: 0x4000_0000,
} as const;
