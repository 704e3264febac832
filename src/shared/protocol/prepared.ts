/**
 * The file systems that nearly every configuration mounts. An init that waits for its plan makes them in the meantime, with their usual options, and
 * the plan takes those that are as it wants them. The number of each is its bit in the page's word `fileSystems`.
 */
import { type CLONE_NEW, MOUNT_ATTR, MS } from "../linux/index.ts";

/** In the order of the usual configuration. */
export const PREPARED = {
  proc: 0,
  /** With nosuid, nodev and noexec, as engines ask for it. */
  safeProc: 1,
  dev: 2,
  devpts: 3,
  shm: 4,
  mqueue: 5,
  sysfs: 6,
} as const;

/** What each of them is made with. Only the header has it. */
interface PreparedFileSystem {
  readonly fstype: string;
  readonly source: string;
  /** The namespace that it shows: init must have it anew. */
  readonly shows?: keyof typeof CLONE_NEW;
  /** key or key=value, at most four. */
  readonly data: readonly string[];
  readonly superFlags: number;
  readonly attributes: bigint;
}

const SAFE = MOUNT_ATTR.NOSUID | MOUNT_ATTR.NODEV | MOUNT_ATTR.NOEXEC;

export const PREPARED_FILE_SYSTEMS: Readonly<Record<keyof typeof PREPARED, PreparedFileSystem>> = {
  proc: { fstype: "proc", source: "proc", shows: "pid", data: [], superFlags: 0, attributes: 0n },
  safeProc: { fstype: "proc", source: "proc", shows: "pid", data: [], superFlags: 0, attributes: SAFE },
  dev: {
    fstype: "tmpfs",
    source: "tmpfs",
    data: ["mode=755", "size=65536k"],
    superFlags: 0,
    attributes: MOUNT_ATTR.NOSUID | MOUNT_ATTR.STRICTATIME,
  },
  devpts: {
    fstype: "devpts",
    source: "devpts",
    data: ["newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
    superFlags: 0,
    attributes: MOUNT_ATTR.NOSUID | MOUNT_ATTR.NOEXEC,
  },
  shm: { fstype: "tmpfs", source: "shm", data: ["mode=1777", "size=65536k"], superFlags: 0, attributes: SAFE },
  mqueue: { fstype: "mqueue", source: "mqueue", shows: "ipc", data: [], superFlags: 0, attributes: SAFE },
  sysfs: { fstype: "sysfs", source: "sysfs", shows: "network", data: [], superFlags: MS.RDONLY, attributes: SAFE | MOUNT_ATTR.RDONLY },
};
