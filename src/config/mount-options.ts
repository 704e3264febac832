/**
 * The mount options of the runtime specification (config, Linux mount options) as data.
 * Names that are not here belong to the filesystem and are handed to it.
 */
import { MOUNT_ATTR, MS, PROPAGATION } from "./constants.ts";

/** What one option name does. Later options win over earlier ones. */
export interface MountOption {
  /** MOUNT_ATTR_* bits the option turns on. */
  readonly set?: bigint;
  /** Bits an earlier option turned on that this one takes back. */
  readonly drop?: bigint;
  /** Bits the kernel is asked to clear (a mount to bind may have them already). */
  readonly clear?: bigint;
  /** MS_* bits of the superblock to turn on or off. */
  readonly superSet?: bigint;
  readonly superClear?: bigint;
  /** The attribute bits apply to the whole tree. */
  readonly recursive?: true;
  /** MS_* propagation change. */
  readonly propagation?: number;
  readonly bind?: "single" | "tree";
  readonly remount?: true;
  /** What the new tmpfs covers is copied into it. */
  readonly copyUp?: true;
  /** Words for the error: the option is known and cannot be applied yet. */
  readonly unsupported?: true;
}

/** Attribute words come in pairs, each also with an r in front for the whole tree. */
const PAIRS: readonly (readonly [on: string, off: string, bit: bigint])[] = [
  ["ro", "rw", MOUNT_ATTR.RDONLY],
  ["nosuid", "suid", MOUNT_ATTR.NOSUID],
  ["nodev", "dev", MOUNT_ATTR.NODEV],
  ["noexec", "exec", MOUNT_ATTR.NOEXEC],
  ["nodiratime", "diratime", MOUNT_ATTR.NODIRATIME],
  ["nosymfollow", "symfollow", MOUNT_ATTR.NOSYMFOLLOW],
];

/** The kernel wants the whole mask cleared whenever a mode is set; taking a mode back leads to relatime, its default. */
const ATIME: readonly (readonly [name: string, option: MountOption])[] = [
  ["noatime", { set: MOUNT_ATTR.NOATIME, drop: MOUNT_ATTR.ATIME, clear: MOUNT_ATTR.ATIME }],
  ["atime", { drop: MOUNT_ATTR.NOATIME, clear: MOUNT_ATTR.ATIME }],
  ["strictatime", { set: MOUNT_ATTR.STRICTATIME, drop: MOUNT_ATTR.ATIME, clear: MOUNT_ATTR.ATIME }],
  ["nostrictatime", { drop: MOUNT_ATTR.STRICTATIME, clear: MOUNT_ATTR.ATIME }],
  ["relatime", { drop: MOUNT_ATTR.ATIME, clear: MOUNT_ATTR.ATIME }],
  ["norelatime", { clear: MOUNT_ATTR.ATIME }],
];

const SUPERBLOCK: readonly (readonly [on: string, off: string, flag: bigint])[] = [
  ["sync", "async", MS.SYNCHRONOUS],
  ["mand", "nomand", MS.MANDLOCK],
  ["silent", "loud", MS.SILENT],
  ["iversion", "noiversion", MS.I_VERSION],
  ["lazytime", "nolazytime", MS.LAZYTIME],
];

const CHANGES: readonly (readonly [name: string, flag: number])[] = [
  ["shared", PROPAGATION.SHARED],
  ["slave", PROPAGATION.SLAVE],
  ["private", PROPAGATION.PRIVATE],
  ["unbindable", PROPAGATION.UNBINDABLE],
];

/** Options that are recognised and refused: of the specification, and crun's own words, which must not reach a filesystem. */
const UNSUPPORTED = ["idmap", "ridmap", "copy-symlink", "src-nofollow", "dest-nofollow", "rsync", "rasync", "rdirsync", "rmand", "rnomand"];

/** Words of mount(8) that only concern its own tools; also every word that starts with x- or X-. */
export const USERSPACE_OPTIONS: ReadonlySet<string> = new Set(["auto", "noauto", "nofail", "_netdev"]);

function buildTable(): ReadonlyMap<string, MountOption> {
  const table = new Map<string, MountOption>();
  for (const [on, off, bit] of PAIRS) {
    // A new filesystem that is read-only is so in its superblock too, as with mount(2).
    const superblock = bit === MOUNT_ATTR.RDONLY;
    table.set(on, { set: bit, ...(superblock && { superSet: MS.RDONLY }) });
    table.set(off, { drop: bit, clear: bit, ...(superblock && { superClear: MS.RDONLY }) });
    table.set(`r${on}`, { set: bit, recursive: true });
    table.set(`r${off}`, { drop: bit, clear: bit, recursive: true });
  }
  for (const [name, option] of ATIME) {
    table.set(name, option);
    table.set(`r${name}`, { ...option, recursive: true });
  }
  for (const [on, off, flag] of SUPERBLOCK) {
    table.set(on, { superSet: flag });
    table.set(off, { superClear: flag });
  }
  for (const [name, flag] of CHANGES) {
    table.set(name, { propagation: flag });
    table.set(`r${name}`, { propagation: flag | PROPAGATION.REC });
  }
  table.set("dirsync", { superSet: MS.DIRSYNC });
  table.set("defaults", {});
  table.set("bind", { bind: "single" });
  table.set("rbind", { bind: "tree" });
  table.set("remount", { remount: true });
  // A word of runc and crun that Podman uses for every tmpfs.
  table.set("tmpcopyup", { copyUp: true });
  for (const name of UNSUPPORTED) table.set(name, { unsupported: true });
  return table;
}

export const MOUNT_OPTIONS: ReadonlyMap<string, MountOption> = buildTable();

/** The supported names, sorted: what the features document lists. */
export function supportedMountOptions(): readonly string[] {
  return [...MOUNT_OPTIONS]
    .filter(([, option]) => option.unsupported === undefined)
    .map(([name]) => name)
    .sort();
}
