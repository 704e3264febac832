/** Flags of open(2), flock(2), poll(2), access(2), waitpid(2) and mount(2); the same numbers on x86-64 and arm64 but for those of `open`. */
import { architecture } from "runt:host";

// O_DIRECTORY and O_NOFOLLOW are the flags whose numbers differ between the two architectures.
const arm = architecture === "arm64";

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
  DIRECTORY: arm ? 0o40000 : 0o200000,
  NOFOLLOW: arm ? 0o100000 : 0o400000,
  CLOEXEC: 0o2000000,
  PATH: 0o10000000,
} as const;

export const LOCK = { SH: 1, EX: 2, NB: 4, UN: 8 } as const;

export const POLL = { IN: 0x1, OUT: 0x4, ERR: 0x8, HUP: 0x10, NVAL: 0x20 } as const;

export const ACCESS = { EXIST: 0, EXECUTE: 1, WRITE: 2, READ: 4 } as const;

export const WAIT = { NOHANG: 1 } as const;

/** Mount flags. Source: mount(2). */
export const MS = {
  RDONLY: 0x1,
  NOSUID: 0x2,
  NODEV: 0x4,
  NOEXEC: 0x8,
  SYNCHRONOUS: 0x10,
  REMOUNT: 0x20,
  MANDLOCK: 0x40,
  DIRSYNC: 0x80,
  NOSYMFOLLOW: 0x100,
  NOATIME: 0x400,
  NODIRATIME: 0x800,
  BIND: 0x1000,
  MOVE: 0x2000,
  REC: 0x4000,
  SILENT: 0x8000,
  POSIXACL: 0x10000,
  UNBINDABLE: 0x20000,
  PRIVATE: 0x40000,
  SLAVE: 0x80000,
  SHARED: 0x100000,
  RELATIME: 0x200000,
  I_VERSION: 0x800000,
  STRICTATIME: 0x1000000,
  LAZYTIME: 0x2000000,
} as const;

/** Type bits of a file mode. Source: inode(7). */
export const S = {
  IFMT: 0o170000,
  IFSOCK: 0o140000,
  IFLNK: 0o120000,
  IFREG: 0o100000,
  IFBLK: 0o60000,
  IFDIR: 0o40000,
  IFCHR: 0o20000,
  IFIFO: 0o10000,
} as const;
