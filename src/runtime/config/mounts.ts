/** `mounts` -> MountConfig: options to flags, sources and targets to absolute paths. */
import { RuntError } from "../errors/index.ts";
import type { SpecMount } from "../spec/index.ts";
import { bindAttributes } from "./bind-attributes.ts";
import { MOUNT_ATTR } from "./constants.ts";
import { type ContainerIds, deriveMountIdMap, type IdMapRequest } from "./mount-idmap.ts";
import { isUserspaceOption, MOUNT_OPTIONS, type MountOption } from "./mount-options.ts";
import type { MountAttributes, MountConfig } from "./types.ts";
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
  /** MS_* flags of the superblock. */
  readonly superFlags: bigint;
  /** An option named a superblock flag, to set or to clear. */
  readonly superTouched: boolean;
  readonly data: readonly string[];
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
    if (option.link !== undefined) links.push(option.link);
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
  return { attributes, touched, atime, bind, idmap, remount, copyUp, links, superFlags, superTouched, data };
}

/** Only crun's idmap can have one: every other word with a value is the filesystem's. */
function optionWithValue(name: string): MountOption | undefined {
  if (name.startsWith("idmap=")) return MOUNT_OPTIONS.get("idmap");
  return name.startsWith("ridmap=") ? MOUNT_OPTIONS.get("ridmap") : undefined;
}

/** Where a mount is taken from, and whose ids it may show. */
export interface MountPlace {
  /** Absolute: relative bind sources start there (config, mounts). */
  readonly bundle: string;
  readonly ids: ContainerIds;
}

/** One entry of `mounts`. */
export function deriveMount(mount: SpecMount, index: number, { bundle, ids }: MountPlace, warn: Warn): MountConfig {
  const from = `/mounts/${index}`;
  const parsed = parseMountOptions(mount.options ?? [], from, warn);
  const target = targetOf(mount.destination, from, warn);
  const { attributes, superFlags, data } = parsed;
  const idmap = deriveMountIdMap(mount, parsed.idmap, ids, from, warn);

  if (parsed.remount) {
    if (idmap !== undefined) throw refusal(mount, from, "mount-idmap", "ids cannot be mapped by a remount");
    if (parsed.copyUp) throw refusal(mount, from, "mount-copy-up", "tmpcopyup is for tmpfs only");
    if (parsed.links.length > 0) throw refusal(mount, from, "mount-link-option", LINKS_ARE_FOR_BINDS);
    const superblock = parsed.bind === undefined && (parsed.superTouched || data.length > 0);
    if (!superblock) warnBindOnly(parsed, from, mount, warn);
    return superblock
      ? { kind: "remount", from, target, ...attributes, superblock, data, superFlags }
      : { kind: "remount", from, target, ...attributes, superblock, data: [], superFlags: 0n };
  }

  const implied = parsed.bind === undefined && mount.type === "bind";
  if (implied)
    warn(
      "mount-bind-implied",
      `${from}/type`,
      `mount of "${mount.destination}": type bind without the option bind is taken as a bind mount`,
    );
  if (parsed.bind !== undefined || implied) {
    warnBindOnly(parsed, from, mount, warn);
    if (!mount.source) throw refusal(mount, from, "mount-source-empty", "a bind mount needs a source", from);
    if (parsed.copyUp) throw refusal(mount, from, "mount-copy-up", "tmpcopyup is for tmpfs only");
    if (parsed.links.includes("copy") && parsed.links.some((link) => link !== "copy"))
      throw refusal(mount, from, "mount-link-option", "copy-symlink is mutually exclusive with src-nofollow and dest-nofollow");
    return {
      kind: "bind",
      from,
      target,
      ...bindAttributes(parsed),
      source: sourceOf(mount.source, bundle),
      recursive: parsed.bind === "tree",
      ...(idmap !== undefined && { idmap }),
      ...(parsed.links.includes("copy") && { sourceLink: "copy" as const }),
      ...(parsed.links.includes("source") && { sourceLink: "bind" as const }),
      ...(parsed.links.includes("target") && { onLink: true as const }),
    };
  }
  if (parsed.links.length > 0) throw refusal(mount, from, "mount-link-option", LINKS_ARE_FOR_BINDS);

  if (mount.type === "cgroup" || mount.type === "cgroup2") {
    if (idmap !== undefined) throw refusal(mount, from, "mount-idmap", "a cgroup mount cannot be id-mapped");
    if (parsed.copyUp) throw refusal(mount, from, "mount-copy-up", "tmpcopyup is for tmpfs only");
    if (data.length > 0) {
      warn("mount-data-ignored", `${from}/options`, `mount of "${mount.destination}": "${data.join(",")}" has no effect on a cgroup mount`);
    }
    return { kind: "cgroup", from, target, ...attributes };
  }
  if (!mount.type) throw refusal(mount, from, "mount-type-missing", "needs a type, or the option bind", from);
  const { copyUp } = parsed;
  if (copyUp && mount.type !== "tmpfs") throw refusal(mount, from, "mount-copy-up", "tmpcopyup is for tmpfs only");
  const { attrSet, attrClear, recursiveSet, recursiveClear, propagation } = attributes;
  return {
    kind: "filesystem",
    from,
    target,
    attrSet,
    attrClear,
    recursiveSet,
    recursiveClear,
    propagation,
    fstype: mount.type,
    source: mount.source || "none",
    data,
    superFlags,
    copyUp,
    ...(idmap !== undefined && { idmap }),
  };
}

/** What is refused is the option list, unless another place is given. */
function refusal({ destination }: SpecMount, from: string, finding: string, what: string, pointer = `${from}/options`): RuntError {
  return new RuntError("config-invalid", `mount of "${destination}": ${what}`, { pointer, finding });
}

const LINKS_ARE_FOR_BINDS = "copy-symlink, src-nofollow and dest-nofollow are for bind mounts only";

function targetOf(destination: string, from: string, warn: Warn): string {
  if (destination.startsWith("/")) return destination;
  warn(
    "mount-destination-relative",
    `${from}/destination`,
    `mount destination "${destination}" is not absolute and is taken from the root`,
  );
  return `/${destination}`;
}

/** Not cleaned: a ".." behind a symbolic link is for the kernel to resolve. */
function sourceOf(source: string, bundle: string): string {
  return source.startsWith("/") ? source : `${bundle}/${source}`;
}

/** A bind shares the superblock of its source: data for it and flags that live there have no effect. */
function warnBindOnly(parsed: ParsedOptions, from: string, mount: SpecMount, warn: Warn): void {
  if (parsed.data.length > 0) {
    warn(
      "mount-bind-data",
      `${from}/options`,
      `mount of "${mount.destination}": options of a filesystem have no effect on a bind mount: "${parsed.data.join(",")}"`,
    );
  }
  if ((parsed.superFlags & ~1n) !== 0n) {
    warn(
      "mount-option-ignored",
      `${from}/options`,
      `mount of "${mount.destination}": options of the superblock have no effect on a bind mount`,
    );
  }
}
