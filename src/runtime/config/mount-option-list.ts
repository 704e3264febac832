/** The option list of a mount -> flags, words and data. */
import { MOUNT_ATTR } from "../../shared/linux/index.ts";
import type { IdMapRequest } from "./mount-idmap.ts";
import { isUserspaceOption, MOUNT_OPTIONS, type MountOption } from "./mount-options.ts";
import type { MountAttributes, SourceIdentity } from "./types.ts";
import type { Warn } from "./warnings.ts";

/** What an option list asks for, before it is known for which kind of mount. */
export interface ParsedOptions {
  readonly attributes: MountAttributes;
  /** A word asked for flags of the mount itself or of its superblock, to be there or not. */
  readonly touched: boolean;
  /** The access time mode that is asked for (MOUNT_ATTR_*; relatime is 0), unless a later word took it back. */
  readonly atime: bigint | undefined;
  readonly bind: "single" | "tree" | undefined;
  readonly remount: boolean;
  readonly copyUp: boolean;
  readonly idmap: IdMapRequest | undefined;
  readonly links: readonly NonNullable<MountOption["link"]>[];
  /** Which file the source has to be. */
  readonly identity: SourceIdentity | undefined;
  /** MS_* flags of the superblock. */
  readonly superFlags: bigint;
  /** An option named a superblock flag, to set or to clear. */
  readonly superTouched: boolean;
  readonly data: readonly string[];
}

/** A remount changes the filesystem itself, for all of its mounts: MS_REMOUNT without MS_BIND (mount(2)). */
export function changesSuperblock({ bind, superTouched, data }: ParsedOptions): boolean {
  return bind === undefined && (superTouched || data.length > 0);
}

/** Take an option list apart with the table; what the table does not know is filesystem data. */
export function parseMountOptions(options: readonly string[], pointer: string, warn: Warn): ParsedOptions {
  let set = 0n;
  let clear = 0n;
  let recursiveSet = 0n;
  let recursiveClear = 0n;
  let superFlags = 0n;
  let superTouched = false;
  let touched = false;
  let atime: bigint | undefined;
  let bind: "single" | "tree" | undefined;
  let remount = false;
  let copyUp = false;
  let idmap: IdMapRequest | undefined;
  const links: NonNullable<MountOption["link"]>[] = [];
  let identity: SourceIdentity | undefined;
  const propagation: number[] = [];
  const data: string[] = [];

  for (let index = 0; index < options.length; index++) {
    const name = options[index] as string;
    const option = MOUNT_OPTIONS.get(name) ?? optionWithValue(name);
    if (option === undefined) {
      if (isUserspaceOption(name)) {
        warn("mount-option-ignored", `${pointer}/options/${index}`, `mount option "${name}" has no effect here`);
      } else if (name !== "") data.push(name);
      continue;
    }
    if (option.idmap !== undefined) {
      const value = name.includes("=") ? name.slice(name.indexOf("=") + 1) : "";
      idmap = { at: `${pointer}/options/${index}`, recursive: option.idmap === "tree", value };
    }
    if (option.link !== undefined) {
      links.push(option.link);
      identity = parseIdentity(name) ?? identity;
    }
    const { set: bitsSet, drop: bitsDropped, clear: bitsCleared } = option;
    if (option.recursive) {
      if (bitsDropped !== undefined) recursiveSet &= ~bitsDropped;
      if (bitsSet !== undefined) {
        recursiveSet |= bitsSet;
        recursiveClear &= ~(bitsSet & ~MOUNT_ATTR.ATIME);
      }
      if (bitsCleared !== undefined) recursiveClear |= bitsCleared;
    } else {
      if (bitsSet !== undefined || bitsCleared !== undefined) touched = true;
      if (option.atime?.on) atime = option.atime.mode;
      else if (option.atime?.mode === atime) atime = undefined;
      if (bitsDropped !== undefined) set &= ~bitsDropped;
      if (bitsSet !== undefined) {
        set |= bitsSet;
        clear &= ~(bitsSet & ~MOUNT_ATTR.ATIME);
      }
      if (bitsCleared !== undefined) clear |= bitsCleared;
    }
    if (option.superSet !== undefined || option.superClear !== undefined) {
      superTouched = touched = true;
      superFlags = (superFlags & ~(option.superClear ?? 0n)) | (option.superSet ?? 0n);
    }
    if (option.propagation !== undefined) propagation.push(option.propagation);
    if (option.bind !== undefined && bind !== "tree") bind = option.bind;
    if (option.remount) remount = true;
    if (option.copyUp) copyUp = true;
  }
  const attributes = { attrSet: set, attrClear: clear, recursiveSet, recursiveClear, propagation };
  return { attributes, touched, atime, bind, idmap, remount, copyUp, links, identity, superFlags, superTouched, data };
}

/** Two options can have one: crun's idmap, and src-nofollow. Every other word with a value is the filesystem's. */
function optionWithValue(name: string): MountOption | undefined {
  if (name.startsWith("idmap=")) return MOUNT_OPTIONS.get("idmap");
  if (name.startsWith("ridmap=")) return MOUNT_OPTIONS.get("ridmap");
  return parseIdentity(name) && MOUNT_OPTIONS.get("src-nofollow");
}

/** Two numbers of at most 64 bits; inode 0 does not exist. */
const IDENTITY = /^src-nofollow=(\d{1,20}):([1-9]\d{0,19})$/;
const U64_MAX = (1n << 64n) - 1n;

/** `src-nofollow=DEVICE:INODE`, as stat(2) has them: the source must be this file. Whoever checked it before has seen no other one. */
export function parseIdentity(word: string): SourceIdentity | undefined {
  // Every word of a file system comes here, and to search it with the pattern cost create 70,000 instructions.
  if (!word.startsWith("src-nofollow=")) return undefined;
  const found = IDENTITY.exec(word);
  if (found === null) return undefined;
  const [device, inode] = [BigInt(found[1]!), BigInt(found[2]!)];
  return device > U64_MAX || inode > U64_MAX ? undefined : { device, inode };
}
