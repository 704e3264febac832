/** `mounts` -> MountConfig: options to flags, sources and targets to absolute paths. */
import { RuntError } from "../errors/index.ts";
import type { SpecMount } from "../spec/index.ts";
import { MOUNT_ATTR } from "./constants.ts";
import { MOUNT_OPTIONS, USERSPACE_OPTIONS } from "./mount-options.ts";
import type { MountAttributes, MountConfig } from "./types.ts";
import type { Warn } from "./warnings.ts";

/** What an option list asks for, before it is known for which kind of mount. */
interface ParsedOptions {
  readonly attributes: MountAttributes;
  readonly bind?: "single" | "tree";
  readonly remount: boolean;
  readonly copyUp: boolean;
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
  let bind: "single" | "tree" | undefined;
  let remount = false;
  let copyUp = false;
  const propagation: number[] = [];
  const data: string[] = [];

  for (let index = 0; index < options.length; index++) {
    const name = options[index] as string;
    const option = MOUNT_OPTIONS.get(name);
    if (option === undefined) {
      const at = `${pointer}/options/${index}`;
      if (name.startsWith("idmap=") || name.startsWith("ridmap=")) throw unsupported(name, at);
      if (USERSPACE_OPTIONS.has(name) || name.startsWith("x-") || name.startsWith("X-")) {
        warn("mount-option-ignored", at, `mount option "${name}" has no effect here`);
      } else if (name !== "") data.push(name);
      continue;
    }
    if (option.unsupported) throw unsupported(name, `${pointer}/options/${index}`);
    const bitsSet = option.set ?? 0n;
    const bitsClear = option.clear ?? 0n;
    if (option.recursive) {
      recursiveSet = (recursiveSet & ~(option.drop ?? 0n)) | bitsSet;
      recursiveClear = (recursiveClear & ~(bitsSet & ~MOUNT_ATTR.ATIME)) | bitsClear;
    } else {
      set = (set & ~(option.drop ?? 0n)) | bitsSet;
      clear = (clear & ~(bitsSet & ~MOUNT_ATTR.ATIME)) | bitsClear;
    }
    if (option.superSet !== undefined || option.superClear !== undefined) {
      superTouched = true;
      superFlags = (superFlags & ~(option.superClear ?? 0n)) | (option.superSet ?? 0n);
    }
    if (option.propagation !== undefined) propagation.push(option.propagation);
    if (option.bind !== undefined && bind !== "tree") bind = option.bind;
    if (option.remount) remount = true;
    if (option.copyUp) copyUp = true;
  }
  const attributes = { attrSet: set, attrClear: clear, recursiveSet, recursiveClear, propagation };
  return { attributes, remount, copyUp, superFlags, superTouched, data, ...(bind !== undefined && { bind }) };
}

function unsupported(name: string, pointer: string): RuntError {
  return new RuntError("not-supported", `mount option "${name}": not supported yet`, { pointer });
}

/** One entry of `mounts`. `bundle` is absolute: relative bind sources start there (config, mounts). */
export function deriveMount(mount: SpecMount, index: number, bundle: string, warn: Warn): MountConfig {
  const from = `/mounts/${index}`;
  const parsed = parseMountOptions(mount.options ?? [], from, warn);
  const base = { from, target: targetOf(mount.destination, from, warn), ...parsed.attributes };
  const { superFlags, data } = parsed;

  if ((mount.uidMappings?.length ?? 0) > 0 || (mount.gidMappings?.length ?? 0) > 0) {
    throw new RuntError("not-supported", `mount of "${mount.destination}": id mappings of mounts are not supported yet`, { pointer: from });
  }
  if (parsed.remount) {
    const superblock = parsed.bind === undefined && (parsed.superTouched || data.length > 0);
    if (!superblock) warnBindOnly(parsed, `${from}/options`, mount, warn);
    return superblock
      ? { kind: "remount", ...base, superblock, data, superFlags }
      : { kind: "remount", ...base, superblock, data: [], superFlags: 0n };
  }

  const implied = parsed.bind === undefined && mount.type === "bind";
  if (implied)
    warn(
      "mount-bind-implied",
      `${from}/type`,
      `mount of "${mount.destination}": type bind without the option bind is taken as a bind mount`,
    );
  if (parsed.bind !== undefined || implied) {
    warnBindOnly(parsed, `${from}/options`, mount, warn);
    if (!mount.source)
      throw new RuntError("config-invalid", `mount of "${mount.destination}": a bind mount needs a source`, { pointer: from });
    return { kind: "bind", ...base, source: sourceOf(mount.source, bundle), recursive: parsed.bind === "tree" };
  }

  if (mount.type === "cgroup" || mount.type === "cgroup2") {
    if (data.length > 0) {
      warn("mount-data-ignored", `${from}/options`, `mount of "${mount.destination}": "${data.join(",")}" has no effect on a cgroup mount`);
    }
    return { kind: "cgroup", ...base };
  }
  if (!mount.type)
    throw new RuntError("config-invalid", `mount of "${mount.destination}": needs a type, or the option bind`, { pointer: from });
  const { copyUp } = parsed;
  if (copyUp && mount.type !== "tmpfs")
    throw new RuntError("config-invalid", `mount of "${mount.destination}": tmpcopyup is for tmpfs only`, { pointer: `${from}/options` });
  return { kind: "filesystem", ...base, fstype: mount.type, source: mount.source || "none", data, superFlags, copyUp };
}

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

/** A bind shares the superblock of its source: data for it is an error, flags that live there have no effect. */
function warnBindOnly(parsed: ParsedOptions, pointer: string, mount: SpecMount, warn: Warn): void {
  if (parsed.data.length > 0) {
    throw new RuntError(
      "config-invalid",
      `mount of "${mount.destination}": bind mounts cannot have any filesystem-specific options applied: "${parsed.data.join(",")}"`,
      { pointer },
    );
  }
  if ((parsed.superFlags & ~1n) !== 0n) {
    warn("mount-option-ignored", pointer, `mount of "${mount.destination}": options of the superblock have no effect on a bind mount`);
  }
}
