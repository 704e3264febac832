import { MOUNT_ATTR, MS } from "../../../shared/linux/index.ts";
import { isUserspaceOption, MOUNT_OPTIONS, type MountOption, parseIdentity } from "../../config/index.ts";
import type { SpecMount } from "../../spec/index.ts";
import { closeNames } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { OF_SUPERBLOCK, optionsIn, optionsOf, TOLERANT, valueProblem } from "./filesystems.ts";

export function isBind({ type, options }: SpecMount): boolean {
  return type === "bind" || options?.includes("bind") === true || options?.includes("rbind") === true;
}

/** Words of runt and crun that have a value. */
const hasValue = (word: string): boolean => /^r?idmap=/.test(word) || parseIdentity(word) !== undefined;

/** The later of two words takes back what the earlier has said. */
function takesBack(later: MountOption, earlier: MountOption): boolean {
  if (later.recursive !== earlier.recursive) return false;
  const on = (earlier.set ?? 0n) & (later.drop ?? 0n) & ~(later.set ?? 0n);
  const off = (earlier.clear ?? 0n) & (later.set ?? 0n) & ~MOUNT_ATTR.ATIME;
  const superblock = (earlier.superSet ?? 0n) & (later.superClear ?? 0n);
  return on !== 0n || off !== 0n || superblock !== 0n || ((earlier.superClear ?? 0n) & (later.superSet ?? 0n)) !== 0n;
}

const KINDS = MS.SHARED | MS.SLAVE | MS.PRIVATE | MS.UNBINDABLE;

/** mount_namespaces(7): a slave can be shared as well, everything else excludes the rest. */
function isOtherPropagation(later: MountOption, earlier: MountOption): boolean {
  const [after, before] = [(later.propagation ?? 0) & KINDS, (earlier.propagation ?? 0) & KINDS];
  if (after === 0 || before === 0 || after === before) return false;
  return !(before === MS.SLAVE && after === MS.SHARED);
}

/** Places of the words that the table knows: of many the last of each only, for no more can take an earlier word back. */
function knownPlaces(words: readonly string[]): readonly number[] {
  if (words.length <= FEW_WORDS) return words.map((_, at) => at);
  const last = new Map<string, number>();
  words.forEach((word, at) => {
    if (MOUNT_OPTIONS.has(word)) last.set(word, at);
  });
  return [...last.values()].sort((a, b) => a - b);
}

const FEW_WORDS = 32;

interface Contradiction {
  readonly at: number;
  /** The place of the word that takes it back; undefined: it is for a tree, and there is none. */
  readonly by?: number;
}

function contradictions(words: readonly string[], bindsTop: boolean): readonly Contradiction[] {
  const found: Contradiction[] = [];
  const places = knownPlaces(words);
  words.forEach((word, at) => {
    const option = MOUNT_OPTIONS.get(word);
    if (option === undefined) return;
    const by = places.find((next) => {
      const later = next > at ? MOUNT_OPTIONS.get(words[next]!) : undefined;
      return later !== undefined && (takesBack(later, option) || isOtherPropagation(later, option));
    });
    if (by !== undefined) found.push({ at, by });
    else if (bindsTop && option.recursive && option.propagation === undefined) found.push({ at });
  });
  return found;
}

/** config, mount options: words that take each other back; the later one wins. */
export const contradictingOptions: Check = ({ mounts }, report) => {
  // Many mounts have the same few lists of options.
  const known = new Map<string, readonly Contradiction[]>();
  mounts?.forEach((mount, index) => {
    const words = mount.options ?? [];
    if (words.length === 0) return;
    const bindsTop = isBind(mount) && !words.includes("rbind");
    const key = `${bindsTop} ${words.join()}`;
    const list = known.get(key) ?? contradictions(words, bindsTop);
    known.set(key, list);
    for (const { at, by } of list) {
      const word = words[at]!;
      const pointer = `/mounts/${index}/options/${at}`;
      const place = `mount of "${mount.destination}": `;
      if (by === undefined)
        report.advice(
          "mount-option-recursive",
          pointer,
          `${place}"${word}" is for a tree, and bind mounts only its top`,
          `write "rbind", or "${word.slice(1)}"`,
        );
      else report.warning("mount-option-contradiction", pointer, `${place}"${words[by]}" takes "${word}" back`, "leave one of them out");
    }
  });
};

/** So many words get a close one: a configuration with more unknown words has other troubles. */
const MOST_SEARCHES = 20;

/**
 * tmpfs(5) and others: create hands words that are not the kernel's own to the filesystem, which refuses what it does not know. A bind mount is given
 * none of them (mount-bind-data).
 */
export const filesystemOptions: Check = ({ mounts }, report) => {
  let searches = 0;
  mounts?.forEach((mount, index) => {
    if (mount.options?.includes("remount") || isBind(mount)) return;
    const known = optionsOf(mount.type ?? "");
    if (known === undefined) return;
    const checkOption = (word: string, at: number): void => {
      const equals = word.indexOf("=");
      const [name, value] = equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
      const pointer = `/mounts/${index}/options/${at}`;
      const words = `mount of "${mount.destination}": `;
      const form = Object.hasOwn(known, name) ? known[name] : undefined;
      if (form === undefined && TOLERANT.includes(mount.type ?? "")) return;
      if (form === undefined) {
        const names = ++searches > MOST_SEARCHES ? [] : [...MOUNT_OPTIONS.keys(), ...Object.keys(known)];
        report.error("mount-option-unknown", pointer, words + unknownWord(name, mount.type ?? "", names));
        return;
      }
      const problem = valueProblem(form, value);
      if (problem !== undefined) report.error("mount-option-value", pointer, `${words}the option ${name} ${problem}`);
    };
    mount.options?.forEach((word, at) => {
      if (word === "" || MOUNT_OPTIONS.has(word) || isUserspaceOption(word) || hasValue(word)) return;
      const options = optionsIn(mount.type, word);
      for (const option of options) if (options.length === 1 || !OF_SUPERBLOCK.includes(option)) checkOption(option, at);
    });
  });
};

function unknownWord(name: string, type: string, names: readonly string[]): string {
  return `"${name}" is not a mount option, and ${type} has no such option${meantWords(name, names)}`;
}

function meantWords(name: string, names: Iterable<string>): string {
  const close = closeNames(name, names);
  return close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
}

/** To be put behind what is said of the data of a bind mount: a word that was meant otherwise has no effect either. */
export function meantOfBind({ options }: SpecMount): string {
  const strange = options?.filter((word) => word !== "" && !word.includes("=") && !MOUNT_OPTIONS.has(word) && !isUserspaceOption(word));
  for (const word of strange?.slice(0, MOST_SEARCHES) ?? []) {
    const meant = meantWords(word, MOUNT_OPTIONS.keys());
    if (meant !== "") return meant;
  }
  return "";
}
