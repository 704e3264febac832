/** `mounts` -> MountConfig: options to flags, sources and targets to absolute paths. */
import { MOUNT_ATTR } from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import type { SpecMount } from "../spec/index.ts";
import { type ContainerIds, deriveMountIdMap } from "./mount-idmap.ts";
import { changesSuperblock, type ParsedOptions, parseMountOptions } from "./mount-option-list.ts";
import type { BindMount, MountAttributes, MountConfig } from "./types.ts";
import type { Warn } from "./warnings.ts";

/** The group tty of every distribution. */
const TTY_GROUP = 5;

/** Where a mount is taken from, and whose ids it may show. */
export interface MountPlace {
  /** Absolute: relative bind sources start there (config, mounts). */
  readonly bundle: string;
  readonly ids: ContainerIds;
}

/** One entry of `mounts`. */
export function deriveMount(mount: SpecMount, index: number, { bundle, ids }: MountPlace, warn: Warn): MountConfig {
  const from = `/mounts/${index}`;
  const parsed = parseMountOptions(mount.options ?? optionsNotGiven(mount, ids), from, warn);
  const target = targetOf(mount.destination, from, warn);
  const { attributes, superFlags, data } = parsed;
  const idmap = deriveMountIdMap(mount, parsed.idmap, ids, from, warn);

  if (parsed.remount) {
    if (idmap !== undefined) throw refusal(mount, from, "mount-idmap", "ids cannot be mapped by a remount");
    if (parsed.copyUp) throw refusal(mount, from, "mount-copy-up", "tmpcopyup is for tmpfs only");
    if (parsed.links.length > 0) throw refusal(mount, from, "mount-link-option", LINKS_ARE_FOR_BINDS);
    const superblock = changesSuperblock(parsed);
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
      ...(parsed.identity !== undefined && { sourceIdentity: parsed.identity }),
      ...(parsed.links.includes("target") && { onLink: true as const }),
    };
  }
  if (parsed.links.length > 0) throw refusal(mount, from, "mount-link-option", LINKS_ARE_FOR_BINDS);

  if (mount.type === "cgroup" || mount.type === "cgroup2") {
    if (idmap !== undefined) throw refusal(mount, from, "mount-idmap", "a cgroup mount cannot be id-mapped");
    if (parsed.copyUp) throw refusal(mount, from, "mount-copy-up", "tmpcopyup is for tmpfs only");
    const known = data.filter((word) => CGROUP2_OPTIONS.includes(word));
    if (known.length > 0) warn("mount-data-ignored", `${from}/options`, withoutEffect(mount.destination, known));
    return { kind: "cgroup", from, target, ...attributes, ...(data.length > 0 && { data }) };
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

/**
 * Engines give a devpts without a list of options (podman's --mount type=devpts) and mean the usual one: nobody could open a terminal in the kernel's,
 * whose ptmx has mode 0. crun does the same, at /dev/pts only. An empty list asks for what the kernel does.
 */
function optionsNotGiven({ destination, type }: SpecMount, { userNamespace, gidMappings }: ContainerIds): readonly string[] {
  if (type !== "devpts" || destination !== "/dev/pts") return [];
  const isNew = userNamespace !== undefined && userNamespace.path === undefined;
  const hasGroup = !isNew || gidMappings.some(({ containerId, size }) => containerId <= TTY_GROUP && TTY_GROUP < containerId + size);
  return ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", ...(hasGroup ? [`gid=${TTY_GROUP}`] : [])];
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

const { RDONLY, NOSUID, NODEV, NOEXEC, NOSYMFOLLOW, NODIRATIME, ATIME } = MOUNT_ATTR;

const PLAIN = RDONLY | NOSUID | NODEV | NOEXEC | NOSYMFOLLOW;

/**
 * The flags of a bind mount. Without a word for any it keeps those of its source. With one it has what
 * is asked for and nothing else of the source's, but for the access time, which stays unless a mode is
 * asked for: what mount(2) does with MS_REMOUNT and MS_BIND, and runc by it.
 */
export function bindAttributes({ attributes, touched, atime }: ParsedOptions): MountAttributes & Pick<BindMount, "attrDrop"> {
  if (!touched) return { ...attributes, attrDrop: 0n };
  const mode = atime ?? 0n;
  // nodiratime is one of the kernel's words for access times: an option for one of them sets all.
  const changesTimes = atime !== undefined || (attributes.attrSet & NODIRATIME) !== 0n;
  const attrSet = (attributes.attrSet & ~ATIME) | mode;
  const named = attributes.attrClear & PLAIN;
  const times = changesTimes ? ATIME | (NODIRATIME & ~attrSet) : 0n;
  return { ...attributes, attrSet, attrClear: named | times, attrDrop: PLAIN & ~attrSet & ~named };
}

/**
 * Options of a cgroup2 mount that are not the mount's own (kernel, Documentation/admin-guide/cgroup-v2.rst, Mounting). The kernel takes them in
 * every cgroup namespace and heeds them in the first one only.
 */
export const CGROUP2_OPTIONS: readonly string[] = [
  "nsdelegate",
  "favordynmods",
  "nofavordynmods",
  "memory_localevents",
  "memory_recursiveprot",
  "memory_hugetlb_accounting",
  "pids_localevents",
];

/** On v1 of every word, on v2 of those that it knows. */
export function withoutEffect(destination: string, words: readonly string[]): string {
  return `mount of "${destination}": "${words.join(",")}" has no effect on a cgroup mount`;
}

/** What is wrong with an option of a cgroup mount on v2; undefined: nothing. */
export function cgroup2OptionProblem(destination: string, word: string): string | undefined {
  return CGROUP2_OPTIONS.includes(word) ? undefined : `mount of "${destination}": cgroup v2 has no option "${word}"`;
}
