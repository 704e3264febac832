/** The flags of a mount as numbers (MOUNT_ATTR_*), and what the kernel lets a user namespace change of those that are locked. */
import { MOUNT_ATTR, type MountLine } from "../../../shared/linux/index.ts";
import type { MountAttributes } from "../../config/index.ts";

const { RDONLY, NOSUID, NODEV, NOEXEC, NODIRATIME, NOATIME, STRICTATIME, ATIME } = MOUNT_ATTR;

const WORDS: Readonly<Record<string, bigint>> = { ro: RDONLY, nosuid: NOSUID, nodev: NODEV, noexec: NOEXEC, nodiratime: NODIRATIME };

/** mount_namespaces(7): those that are locked where they are set. */
const LOCKABLE = RDONLY | NOSUID | NODEV | NOEXEC;

/** The flags for access times are one lock, and set or not they stay as they are. */
export const ACCESS_TIMES = ATIME | NODIRATIME;

/** The flags of a mount of the host. */
export function flagsOf({ options }: MountLine): bigint {
  const set = options.reduce((flags, word) => flags | (WORDS[word] ?? 0n), 0n);
  if (options.includes("noatime")) return set | NOATIME;
  return options.includes("relatime") ? set : set | STRICTATIME;
}

/** A mount in the container: its flags, and whether they came with it from the host. */
export interface Flags {
  readonly set: bigint;
  /** Of the LOCKABLE. */
  readonly locked: bigint;
  readonly locksTimes: boolean;
  /** Its filesystem is read-only. */
  readonly isReadOnly: boolean;
}

/** In the mount namespace of a new user namespace every mount of the host's is like this. */
export function lockedFlags(mount: MountLine): Flags {
  const set = flagsOf(mount);
  return { set, locked: set & LOCKABLE, locksTimes: true, isReadOnly: mount.ofFilesystem.includes("ro") };
}

const changed = (set: bigint, on: bigint, off: bigint): bigint => (set & ~off) | on;

function isAllowed({ set, locked, locksTimes }: Flags, on: bigint, off: bigint): boolean {
  const after = changed(set, on, off);
  return (locked & ~after) === 0n && (!locksTimes || ((set ^ after) & ACCESS_TIMES) === 0n);
}

/** As native-bindings/init/mount.c asks for them: what is not named stays where it is locked. A text says what is refused. */
export function changeTop(flags: Flags, { attrSet, attrClear }: MountAttributes, attrDrop: bigint): Flags | string {
  if (isAllowed(flags, attrSet, attrClear | attrDrop)) return { ...flags, set: changed(flags.set, attrSet, attrClear | attrDrop) };
  // statfs(2), by which the helper sees them, does not tell a read-only mount from one of a read-only filesystem.
  const shown = flags.set | (flags.isReadOnly ? RDONLY : 0n);
  const changesTimes = (attrClear & ATIME) !== 0n && ((shown ^ attrSet) & ACCESS_TIMES) !== 0n;
  const on = attrSet & ~ACCESS_TIMES;
  const off = (attrClear & ~ACCESS_TIMES) | (attrDrop & ~(shown & LOCKABLE));
  const isSpared = attrDrop !== 0n && !changesTimes && (shown & attrClear & LOCKABLE) === 0n && isAllowed(flags, on, off);
  return isSpared ? { ...flags, set: changed(flags.set, on, off) } : refusalOf(flags, attrSet, attrClear);
}

/** The same for all of a tree; there nothing is spared. */
export function changeTree(flags: Flags, { recursiveSet, recursiveClear }: MountAttributes): Flags | string {
  if (isAllowed(flags, recursiveSet, recursiveClear)) return { ...flags, set: changed(flags.set, recursiveSet, recursiveClear) };
  return refusalOf(flags, recursiveSet, recursiveClear);
}

function refusalOf({ set, locked }: Flags, on: bigint, off: bigint): string {
  const cleared = Object.keys(WORDS).filter((word) => ((WORDS[word] ?? 0n) & locked & off & ~on) !== 0n);
  return cleared.length > 0 ? `has ${cleared.join(", ")}` : `has ${timesText(set)} for access times`;
}

/** "noatime,nodiratime" */
export function timesText(flags: bigint): string {
  const mode = (flags & ATIME) === NOATIME ? "noatime" : (flags & ATIME) === STRICTATIME ? "strictatime" : "relatime";
  return (flags & NODIRATIME) === 0n ? mode : `${mode},nodiratime`;
}
