/** Numbers of plans as the names that people know. Pure. */
import {
  CAPABILITIES,
  CLONE_NEW,
  IO_PRIORITY_CLASSES,
  MEMORY_POLICY_FLAGS,
  MEMORY_POLICY_MODES,
  MOUNT_ATTR,
  MS,
  PERSONALITY_DOMAINS,
  RLIMIT,
  S,
  SCHEDULER_FLAGS,
  SCHEDULER_POLICIES,
} from "../../shared/linux/index.ts";
import { MESSAGES } from "../../shared/protocol/index.ts";

type Names = Readonly<Record<string, number>>;

const one = (names: Names) => (value: number) => Object.entries(names).find(([, number]) => number === value)?.[0] ?? String(value);
const mask = (names: Names) => (value: number) => {
  const found = Object.entries(names).filter(([, bit]) => (value & bit) !== 0);
  return found.map(([name]) => name).join("+");
};

export const messageName = one(MESSAGES);
export const rlimitName = one(RLIMIT);
export const schedulerPolicy = one(SCHEDULER_POLICIES);
export const schedulerFlags = mask(SCHEDULER_FLAGS);
export const ioPriorityClass = one(IO_PRIORITY_CLASSES);
export const memoryPolicyMode = one(MEMORY_POLICY_MODES);
export const memoryPolicyFlags = mask(MEMORY_POLICY_FLAGS);
export const personalityDomain = one(PERSONALITY_DOMAINS);
export const namespaceNames = (flags: number): string => mask(CLONE_NEW)(flags) || "none";

export const octal = (value: number): string => `0${value.toString(8)}`;

/** "c", "b" or "p" of the type bits of a mode. */
export const deviceType = (type: number): string => ({ [S.IFCHR]: "c", [S.IFBLK]: "b", [S.IFIFO]: "p" })[type] ?? octal(type);

/** "rslave". */
export function propagationName(flags: number): string {
  const word = flags & MS.SHARED ? "shared" : flags & MS.SLAVE ? "slave" : flags & MS.PRIVATE ? "private" : "unbindable";
  return flags & MS.REC ? `r${word}` : word;
}

/** Names without CAP_, "all" for everything that has a name. */
export function capabilityList(bits: bigint): string {
  const names = CAPABILITIES.filter((_, bit) => (bits >> BigInt(bit)) & 1n);
  const unnamed = bits >> BigInt(CAPABILITIES.length);
  if (names.length === CAPABILITIES.length) return "all";
  const all = [
    ...names.map((name) => name.slice("CAP_".length)),
    ...(unnamed === 0n ? [] : [`0x${(unnamed << BigInt(CAPABILITIES.length)).toString(16)}`]),
  ];
  return all.join(",") || "none";
}

const ATTRIBUTES: readonly (readonly [bigint, string])[] = [
  [MOUNT_ATTR.RDONLY, "ro"],
  [MOUNT_ATTR.NOSUID, "nosuid"],
  [MOUNT_ATTR.NODEV, "nodev"],
  [MOUNT_ATTR.NOEXEC, "noexec"],
  [MOUNT_ATTR.NOATIME, "noatime"],
  [MOUNT_ATTR.STRICTATIME, "strictatime"],
  [MOUNT_ATTR.NODIRATIME, "nodiratime"],
  [MOUNT_ATTR.NOSYMFOLLOW, "nosymfollow"],
];

/** Mount attributes (MOUNT_ATTR_*) by the options that stand for them; "" for none. */
export function attributeNames(bits: bigint): string {
  const names = ATTRIBUTES.filter(([bit]) => (bits & bit) !== 0n).map(([, name]) => name);
  const rest = ATTRIBUTES.reduce((left, [bit]) => left & ~bit, bits) & ~MOUNT_ATTR.ATIME;
  return [...names, ...(rest === 0n ? [] : [`0x${rest.toString(16)}`])].join(",");
}

/** What clearing attributes brings back: the options without "no", "atime" for the whole group of access times. */
export function clearedNames(bits: bigint): string {
  const OPPOSITE: Readonly<Record<string, string>> = {
    ro: "rw",
    nosuid: "suid",
    nodev: "dev",
    noexec: "exec",
    nodiratime: "diratime",
    nosymfollow: "symfollow",
  };
  const times = MOUNT_ATTR.ATIME;
  const names = ATTRIBUTES.filter(([bit]) => (bits & bit & ~times) !== 0n).map(([, name]) => OPPOSITE[name] ?? name);
  return [...names, ...((bits & times) === times ? ["atime"] : [])].join(",");
}

const SUPER_FLAGS: readonly (readonly [bigint, string])[] = [
  [BigInt(MS.RDONLY), "ro"],
  [BigInt(MS.SYNCHRONOUS), "sync"],
  [BigInt(MS.MANDLOCK), "mand"],
  [BigInt(MS.DIRSYNC), "dirsync"],
  [BigInt(MS.I_VERSION), "iversion"],
  [BigInt(MS.LAZYTIME), "lazytime"],
];

/** MS_* flags of a superblock by the options that stand for them. */
export function superFlagNames(bits: bigint): string {
  const rest = SUPER_FLAGS.reduce((left, [bit]) => left & ~bit, bits);
  const names = SUPER_FLAGS.filter(([bit]) => (bits & bit) !== 0n).map(([, name]) => name);
  return [...names, ...(rest === 0n ? [] : [`0x${rest.toString(16)}`])].join(",");
}

/** Words with blanks, commas, quotes or anything that is not ASCII in quotation marks. */
export function quote(text: string): string {
  return /^[!-~]+$/.test(text) && !/[",]/.test(text) ? text : JSON.stringify(text);
}
