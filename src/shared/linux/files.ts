/** Flags of open(2), access(2), flock(2) and poll(2), and the mode bits of inode(7) (asm-generic/fcntl.h, linux/stat.h). */

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
