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
