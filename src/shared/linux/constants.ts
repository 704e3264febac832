/** Numbers of the kernel: flags of open(2), access(2), flock(2) and poll(2), and the mode bits of inode(7) (asm-generic/fcntl.h, linux/stat.h). */
/** The flags of open(2) that have the same number on every architecture. */
export const O = {
  RDONLY: 0,
  WRONLY: 0o1,
  RDWR: 0o2,
  CREAT: 0o100,
  EXCL: 0o200,
  NOCTTY: 0o400,
  TRUNC: 0o1000,
  APPEND: 0o2000,
  NONBLOCK: 0o4000,
  CLOEXEC: 0o2000000,
  PATH: 0o10000000,
} as const;

/** The flags of open(2) that differ (asm/fcntl.h). */
export const ARCHITECTURE_O = {
  amd64: { DIRECTORY: 0o200000, NOFOLLOW: 0o400000 },
  arm64: { DIRECTORY: 0o40000, NOFOLLOW: 0o100000 },
} as const;

export const LOCK = { SH: 1, EX: 2, NB: 4, UN: 8 } as const;

export const POLL = { IN: 0x1, OUT: 0x4, ERR: 0x8, HUP: 0x10, NVAL: 0x20 } as const;

/** F_OK, X_OK, W_OK and R_OK of access(2). */
export const ACCESS = { EXIST: 0, EXECUTE: 1, WRITE: 2, READ: 4 } as const;

/** Type bits of a file mode, and two of its other bits. */
export const S = {
  IFMT: 0o170000,
  IFSOCK: 0o140000,
  IFLNK: 0o120000,
  IFREG: 0o100000,
  IFBLK: 0o60000,
  IFDIR: 0o40000,
  IFCHR: 0o20000,
  IFIFO: 0o10000,
  ISVTX: 0o1000,
} as const;

/** errno of a seccomp filter, when its profile names none. */
export const EPERM = 1;
/** errno of a list of the kernel's that changes whenever it is asked for. */
export const EAGAIN = 11;

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

/** Flags of waitpid(2) (linux/wait.h). */
export const WAIT = { NOHANG: 1 } as const;

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

/** Flags of mount(2) and of mount_setattr(2) (linux/mount.h). */
export const MS = {
  RDONLY: 0x1,
  SYNCHRONOUS: 0x10,
  MANDLOCK: 0x40,
  DIRSYNC: 0x80,
  REC: 0x4000,
  SILENT: 0x8000,
  UNBINDABLE: 0x2_0000,
  PRIVATE: 0x4_0000,
  SLAVE: 0x8_0000,
  SHARED: 0x10_0000,
  I_VERSION: 0x80_0000,
  LAZYTIME: 0x200_0000,
} as const;

export const MOUNT_ATTR = {
  RDONLY: 0x1n,
  NOSUID: 0x2n,
  NODEV: 0x4n,
  NOEXEC: 0x8n,
  /** Mask of the access time modes, of which relatime is 0. */
  ATIME: 0x70n,
  NOATIME: 0x10n,
  STRICTATIME: 0x20n,
  NODIRATIME: 0x80n,
  NOSYMFOLLOW: 0x20_0000n,
} as const;

/** Files of /proc/PID/ns (namespaces(7)), by the types that the OCI specification has. */
export const NAMESPACE_FILES = {
  cgroup: "cgroup",
  ipc: "ipc",
  mount: "mnt",
  network: "net",
  pid: "pid",
  time: "time",
  user: "user",
  uts: "uts",
} as const;

/** Major and minor number of a device, from what stat(2) says (makedev(3)). */
export function deviceNumbers(device: bigint): { readonly major: bigint; readonly minor: bigint } {
  return {
    major: ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xffff_f000n),
    minor: (device & 0xffn) | ((device >> 12n) & 0xffff_ff00n),
  };
}

/** A file as proc_locks(5) names it. */
export function lockedFile(device: bigint, inode: bigint): string {
  const { major, minor } = deviceNumbers(device);
  const hex = (value: bigint): string => value.toString(16).padStart(2, "0");
  return `${hex(major)}:${hex(minor)}:${inode}`;
}
