/** Kernel ABI values (linux/mount.h, sys/mount.h) the option tables are made of. */
export const MS = {
  RDONLY: 1n,
  SYNCHRONOUS: 1n << 4n,
  MANDLOCK: 1n << 6n,
  DIRSYNC: 1n << 7n,
  SILENT: 1n << 15n,
  I_VERSION: 1n << 23n,
  LAZYTIME: 1n << 25n,
} as const;

/** Propagation changes are numbers: they are arguments of their own, not part of a 64-bit flag word. */
export const PROPAGATION = { REC: 1 << 14, UNBINDABLE: 1 << 17, PRIVATE: 1 << 18, SLAVE: 1 << 19, SHARED: 1 << 20 } as const;

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
