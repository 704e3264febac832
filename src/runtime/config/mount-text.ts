/** A mount for people: its type and source, and the words of its options, out of what they were turned into. Pure. */
import { MOUNT_ATTR, MS } from "../../shared/linux/index.ts";
import { MOUNT_OPTIONS } from "./mount-options.ts";
import type { MountConfig, MountIdMap } from "./types.ts";

type Kind = "set" | "clear" | "superSet";

/** What was found once: most mounts have one of a few sets of flags. */
const FOUND: Readonly<Record<Kind, Map<bigint, readonly string[]>>> = { set: new Map(), clear: new Map(), superSet: new Map() };

function wordsFor(bits: bigint, kind: Kind): readonly string[] {
  if (bits === 0n) return [];
  const words = FOUND[kind].get(bits) ?? findWords(bits, kind);
  FOUND[kind].set(bits, words);
  return words;
}

/** Words whose bits are all in `bits`, in the order of the table; `kind` picks the member of the option that counts. */
function findWords(bits: bigint, kind: Kind): readonly string[] {
  const words: string[] = [];
  let left = bits;
  for (const [word, option] of MOUNT_OPTIONS) {
    const its = option[kind];
    // The access times share bits, and their words are told apart below.
    if (its === undefined || option.recursive || option.unlisted || option.atime || (left & its) !== its) continue;
    words.push(word);
    left &= ~its;
  }
  return words;
}

const ACCESS_TIMES: Readonly<Record<string, string>> = { "16": "noatime", "32": "strictatime" };

function attributeWords(set: bigint, clear: bigint, prefix: "" | "r"): string[] {
  const mode = ACCESS_TIMES[String(set & MOUNT_ATTR.ATIME)] ?? ((clear & MOUNT_ATTR.ATIME) === 0n ? undefined : "relatime");
  return [
    ...wordsFor(set & ~MOUNT_ATTR.ATIME, "set"),
    ...wordsFor(clear & ~MOUNT_ATTR.ATIME, "clear"),
    ...(mode === undefined ? [] : [mode]),
  ].map((word) => prefix + word);
}

function propagationWord(change: number): string {
  for (const [word, { propagation }] of MOUNT_OPTIONS) if (propagation === change) return word;
  return (change & MS.REC) !== 0 ? `r${change & ~MS.REC}` : String(change);
}

function idMapWords(idmap: MountIdMap | undefined): string[] {
  if (idmap === undefined) return [];
  const { source, recursive } = idmap;
  const word = recursive ? "ridmap" : "idmap";
  if ("path" in source) return [`${word}=${source.path}`];
  const ids = (list: (typeof source)["uidMappings"]): string =>
    list.map(({ containerId, hostId, size }) => `${containerId}-${hostId}-${size}`).join("#");
  return [`${word}=uids=${ids(source.uidMappings)};gids=${ids(source.gidMappings)}`];
}

/** The words that ask for just this: from them the same mount would be derived, but for mapped ids. */
export function mountWords(mount: MountConfig): readonly string[] {
  const { kind, attrSet, attrClear, propagation } = mount;
  // Of a bind mount, nodiratime is cleared with every access time that is named.
  const own = attributeWords(attrSet, kind === "bind" ? attrClear & ~MOUNT_ATTR.NODIRATIME : attrClear, "");
  const others = [...attributeWords(mount.recursiveSet, mount.recursiveClear, "r"), ...propagation.map(propagationWord)];
  switch (kind) {
    case "bind": {
      const { sourceIdentity: file } = mount;
      const nofollow = file === undefined ? "src-nofollow" : `src-nofollow=${file.device}:${file.inode}`;
      const links = { copy: ["copy-symlink"], bind: [nofollow], none: [] }[mount.sourceLink ?? "none"];
      const onLink = mount.onLink ? ["dest-nofollow"] : [];
      return [
        mount.recursive ? "rbind" : "bind",
        ...touched(mount.attrDrop !== 0n, own),
        ...others,
        ...links,
        ...onLink,
        ...idMapWords(mount.idmap),
      ];
    }
    case "filesystem":
      return unique([
        ...wordsFor(mount.superFlags, "superSet"),
        ...own,
        ...others,
        ...(mount.copyUp ? ["tmpcopyup"] : []),
        ...idMapWords(mount.idmap),
        ...mount.data,
      ]);
    case "remount": {
      const superblock = [...wordsFor(mount.superFlags, "superSet"), ...mount.data];
      return unique(["remount", ...touched(mount.superblock, superblock), ...own, ...others]);
    }
    case "cgroup":
      return [...own, ...others];
  }
}

/** Where some word was given that left no trace of its own, one that does the same: a flag of the superblock that is off. */
function touched(wasTouched: boolean, words: readonly string[]): readonly string[] {
  return wasTouched && words.length === 0 ? ["async"] : words;
}

/** A read-only file system is so in its superblock and as a mount. */
function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}

/** "bind from /srv/data". @param source as it is to be shown */
export function mountText(mount: MountConfig, source?: string): string {
  const type = mount.kind === "filesystem" ? mount.fstype : mount.kind;
  return source === undefined ? type : `${type} from ${source}`;
}
