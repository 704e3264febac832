/**
 * The mount options of the runtime specification (config, Linux mount options) as data.
 * Names that are not here belong to the filesystem and are handed to it.
 */
import { MOUNT_ATTR, MS } from "../../shared/linux/index.ts";

/** What one option name does. Later options win over earlier ones. */
export interface MountOption {
  /** MOUNT_ATTR_* bits the option turns on. */
  readonly set?: bigint;
  /** Bits an earlier option turned on that this one takes back. */
  readonly drop?: bigint;
  /** Bits the kernel is asked to clear (a mount to bind may have them already). */
  readonly clear?: bigint;
  /** The access time mode that the word names (MOUNT_ATTR_*; relatime is 0), and whether it asks for it or takes it back. */
  readonly atime?: { readonly mode: bigint; readonly on: boolean };
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
  /** The mount shows mapped ids: alone, or with the mounts below it. */
  readonly idmap?: "single" | "tree";
  /** crun(1): a bind copies a symlink that is its source, or takes a symlink at this end for what it is. */
  readonly link?: "copy" | "source" | "target";
  /** A word of mount(8) that the specification does not list. */
  readonly unlisted?: true;
}

const READONLY = BigInt(MS.RDONLY);

/** Attribute words come in pairs, each also with an r in front for the whole tree. */
const PAIRS: readonly (readonly [on: string, off: string, bit: bigint])[] = [
  ["ro", "rw", MOUNT_ATTR.RDONLY],
  ["nosuid", "suid", MOUNT_ATTR.NOSUID],
  ["nodev", "dev", MOUNT_ATTR.NODEV],
  ["noexec", "exec", MOUNT_ATTR.NOEXEC],
  ["nodiratime", "diratime", MOUNT_ATTR.NODIRATIME],
  ["nosymfollow", "symfollow", MOUNT_ATTR.NOSYMFOLLOW],
];

function mode(bits: bigint, on: boolean): MountOption {
  return { atime: { mode: bits, on }, clear: MOUNT_ATTR.ATIME };
}

/** The kernel wants the whole mask cleared whenever a mode is set; taking a mode back leads to relatime, its default. */
const ATIME: readonly (readonly [name: string, option: MountOption])[] = [
  ["noatime", { ...mode(MOUNT_ATTR.NOATIME, true), set: MOUNT_ATTR.NOATIME, drop: MOUNT_ATTR.ATIME }],
  ["atime", { ...mode(MOUNT_ATTR.NOATIME, false), drop: MOUNT_ATTR.NOATIME }],
  ["strictatime", { ...mode(MOUNT_ATTR.STRICTATIME, true), set: MOUNT_ATTR.STRICTATIME, drop: MOUNT_ATTR.ATIME }],
  ["nostrictatime", { ...mode(MOUNT_ATTR.STRICTATIME, false), drop: MOUNT_ATTR.STRICTATIME }],
  ["relatime", { ...mode(0n, true), drop: MOUNT_ATTR.ATIME }],
  ["norelatime", mode(0n, false)],
];

const SUPERBLOCK: readonly (readonly [on: string, off: string, flag: number])[] = [
  ["sync", "async", MS.SYNCHRONOUS],
  ["mand", "nomand", MS.MANDLOCK],
  ["silent", "loud", MS.SILENT],
  ["iversion", "noiversion", MS.I_VERSION],
  ["lazytime", "nolazytime", MS.LAZYTIME],
];

const CHANGES: readonly (readonly [name: string, flag: number])[] = [
  ["shared", MS.SHARED],
  ["slave", MS.SLAVE],
  ["private", MS.PRIVATE],
  ["unbindable", MS.UNBINDABLE],
];

/** Words of crun(1). A superblock has no mounts below it, so the recursive spellings of its flags mean the same. */
const RECURSIVE_SUPERBLOCK = ["sync", "async", "dirsync", "mand", "nomand"];

/** mount(8): what an ordinary user may mount is not to be trusted. */
const USER_MOUNTS: readonly (readonly [name: string, bits: bigint])[] = [
  ["user", MOUNT_ATTR.NOSUID | MOUNT_ATTR.NODEV | MOUNT_ATTR.NOEXEC],
  ["users", MOUNT_ATTR.NOSUID | MOUNT_ATTR.NODEV | MOUNT_ATTR.NOEXEC],
  ["owner", MOUNT_ATTR.NOSUID | MOUNT_ATTR.NODEV],
  ["group", MOUNT_ATTR.NOSUID | MOUNT_ATTR.NODEV],
];

const USERSPACE = new Set(["auto", "noauto", "nofail", "_netdev", "nouser", "nousers", "noowner", "nogroup"]);

/** Words of mount(8) that only concern its own tools. */
export function isUserspaceOption(name: string): boolean {
  return USERSPACE.has(name) || name.startsWith("x-") || name.startsWith("X-") || name.startsWith("comment=");
}

function buildTable(): ReadonlyMap<string, MountOption> {
  const table = new Map<string, MountOption>();
  for (const [on, off, bit] of PAIRS) {
    // A new filesystem that is read-only is so in its superblock too, as with mount(2).
    const superblock = bit === MOUNT_ATTR.RDONLY;
    table.set(on, { set: bit, ...(superblock && { superSet: READONLY }) });
    table.set(off, { drop: bit, clear: bit, ...(superblock && { superClear: READONLY }) });
    table.set(`r${on}`, { set: bit, recursive: true });
    table.set(`r${off}`, { drop: bit, clear: bit, recursive: true });
  }
  for (const [name, option] of ATIME) {
    table.set(name, option);
    table.set(`r${name}`, { ...option, recursive: true });
  }
  for (const [on, off, flag] of SUPERBLOCK) {
    table.set(on, { superSet: BigInt(flag) });
    table.set(off, { superClear: BigInt(flag) });
  }
  for (const [name, flag] of CHANGES) {
    table.set(name, { propagation: flag });
    table.set(`r${name}`, { propagation: flag | MS.REC });
  }
  table.set("dirsync", { superSet: BigInt(MS.DIRSYNC) });
  table.set("defaults", {});
  table.set("bind", { bind: "single" });
  table.set("rbind", { bind: "tree" });
  table.set("remount", { remount: true });
  // A word of runc and crun that Podman uses for every tmpfs.
  table.set("tmpcopyup", { copyUp: true });
  table.set("idmap", { idmap: "single" });
  table.set("ridmap", { idmap: "tree" });
  table.set("copy-symlink", { link: "copy" });
  table.set("src-nofollow", { link: "source" });
  table.set("dest-nofollow", { link: "target" });
  for (const name of RECURSIVE_SUPERBLOCK) table.set(`r${name}`, table.get(name) as MountOption);
  for (const [name, bits] of USER_MOUNTS) table.set(name, { set: bits, unlisted: true });
  return table;
}

export const MOUNT_OPTIONS: ReadonlyMap<string, MountOption> = buildTable();

/** The supported names, sorted: what the features document lists. */
export function supportedMountOptions(): readonly string[] {
  return [...MOUNT_OPTIONS]
    .filter(([, option]) => option.unlisted === undefined)
    .map(([name]) => name)
    .sort();
}
