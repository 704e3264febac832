/** Numbers of the Linux ABI that plans carry (include/uapi/linux: sched.h, mount.h, stat.h, fcntl.h); the same on x86-64 and arm64. */
import type { NamespaceType } from "../config/types.ts";

export const CLONE_NEW: Readonly<Record<NamespaceType, number>> = {
  time: 0x0000_0080,
  mount: 0x0002_0000,
  cgroup: 0x0200_0000,
  uts: 0x0400_0000,
  ipc: 0x0800_0000,
  user: 0x1000_0000,
  pid: 0x2000_0000,
  network: 0x4000_0000,
};

export const MS = {
  RDONLY: 1,
  REC: 0x4000,
  UNBINDABLE: 0x2_0000,
  PRIVATE: 0x4_0000,
  SLAVE: 0x8_0000,
  SHARED: 0x10_0000,
} as const;

export const MOUNT_ATTR = { RDONLY: 1n, NOSUID: 2n, NODEV: 4n, NOEXEC: 8n } as const;

export const S_IF = { fifo: 0x1000, character: 0x2000, block: 0x6000 } as const;

export const O = { RDONLY: 0, WRONLY: 1, RDWR: 2, CREAT: 0o100, CLOEXEC: 0o2000000 } as const;

export const SIGKILL = 9;

/** As a bit (linux/capability.h). */
export const CAP_SYS_ADMIN = 1n << 21n;

/** Resource numbers of setrlimit(2) (asm-generic/resource.h). */
export const RLIMIT: Readonly<Record<string, number>> = {
  RLIMIT_CPU: 0,
  RLIMIT_FSIZE: 1,
  RLIMIT_DATA: 2,
  RLIMIT_STACK: 3,
  RLIMIT_CORE: 4,
  RLIMIT_RSS: 5,
  RLIMIT_NPROC: 6,
  RLIMIT_NOFILE: 7,
  RLIMIT_MEMLOCK: 8,
  RLIMIT_AS: 9,
  RLIMIT_LOCKS: 10,
  RLIMIT_SIGPENDING: 11,
  RLIMIT_MSGQUEUE: 12,
  RLIMIT_NICE: 13,
  RLIMIT_RTPRIO: 14,
  RLIMIT_RTTIME: 15,
};
