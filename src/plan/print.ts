/** A plan as a person reads it: operations in order, grouped by phase, each with the place in config.json it comes from. */
import {
  IO_PRIORITY_CLASSES,
  MEMORY_POLICY_FLAGS,
  MEMORY_POLICY_MODES,
  PERSONALITY_DOMAINS,
  SCHEDULER_FLAGS,
  SCHEDULER_POLICIES,
} from "../spec/policies.ts";
import { CLONE_NEW, MS, RLIMIT } from "./linux.ts";
import { CREATE, MESSAGES, NO_SLOT, type Op, type Phase, type Plan } from "./ops.ts";

const WIDTH = 100;
const NAME_WIDTH = 24;

export function printPlan(plan: Plan): string {
  const lines: string[] = [];
  let phase: Phase | undefined;
  for (const [index, op] of plan.ops.entries()) {
    const heading = op.phase === phase ? "" : op.phase.toUpperCase();
    phase = op.phase;
    const left = `${heading.padEnd(11)}${String(index + 1).padStart(4)} ${op.actor.padEnd(8)}${op.op.padEnd(NAME_WIDTH)}${describe(op)}`;
    lines.push(op.from === "" ? left.trimEnd() : placeRight(left.trimEnd(), op.from));
  }
  return `${lines.join("\n")}\n`;
}

/** The origin stands at the right margin, or on the same line after two blanks when the operation is long. */
function placeRight(left: string, origin: string): string {
  const gap = WIDTH - left.length - origin.length;
  return gap >= 2 ? left + " ".repeat(gap) + origin : `${left}  ${origin}`;
}

function describe(op: Op): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(op.args)) {
    const text = describeField(op.op, name, value);
    if (text !== undefined) parts.push(text);
  }
  return parts.join(" ");
}

/** Fields that say nothing (empty lists, zero masks, false) are left out. */
function describeField(op: string, name: string, value: unknown): string | undefined {
  if (op === "seccomp.prepare" && name === "profile") return `${String(value).split("\nrule ").length - 1} rules`;
  if (op === "seccomp.load" && name === "flags") return value === 0 ? undefined : `flags=0x${(value as number).toString(16)}`;
  if (value === false || value === 0n || value === "" || value === NO_SLOT) return undefined;
  if (value === true) return name;
  if (Array.isArray(value)) return value.length === 0 ? undefined : `${name}=[${value.map(quote).join(", ")}]`;
  if (typeof value === "bigint")
    return `${name}=${name.startsWith("attr") || name.startsWith("recursive") ? attributeNames(value) : describeWide(name, value)}`;
  if (typeof value === "string") return SELF_EXPLAINING.has(name) ? quote(value) : `${name}=${quote(value)}`;
  return describeNumber(op, name, value as number);
}

const SELF_EXPLAINING = new Set(["path", "directory", "target", "name", "source", "fstype", "type"]);

/** Fields whose numbers have names in the specification, by operation and field: one of them, or flags. */
const SPEC_NAMES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "process.scheduler policy": SCHEDULER_POLICIES,
  "process.scheduler flags": SCHEDULER_FLAGS,
  "process.ioPriority class": IO_PRIORITY_CLASSES,
  "process.memoryPolicy mode": MEMORY_POLICY_MODES,
  "process.memoryPolicy flags": MEMORY_POLICY_FLAGS,
  "process.personality domain": PERSONALITY_DOMAINS,
};

function describeNumber(op: string, name: string, value: number): string | undefined {
  const names = SPEC_NAMES[`${op} ${name}`];
  if (names) return specNames(names, name, value);
  switch (name) {
    case "message":
      return Object.entries(MESSAGES).find(([, number]) => number === value)?.[0];
    case "flags":
    case "flag":
      return op.startsWith("root.")
        ? `${name}=${propagationNames(value)}`
        : `${name}=${op === "file.open" ? octal(value) : namespaceNames(value)}`;
    case "mode":
    case "mask":
      return `${name}=${octal(value)}`;
    case "type":
      return DEVICE_NAMES[value] ?? `type=${octal(value)}`;
    case "resource":
      return Object.entries(RLIMIT).find(([, number]) => number === value)?.[0];
    case "create":
      return `create=${Object.entries(CREATE).find(([, number]) => number === value)?.[0] ?? value}`;
    default:
      return `${name}=${value}`;
  }
}

const DEVICE_NAMES: Readonly<Record<number, string>> = { 8192: "c", 24576: "b", 4096: "p" };

function describeWide(name: string, value: bigint): string {
  return CAPABILITY_FIELDS.has(name) ? `0x${value.toString(16)}` : value.toString();
}
const CAPABILITY_FIELDS = new Set(["mask", "effective", "permitted", "inheritable", "ambient", "superFlags"]);

function specNames(names: Readonly<Record<string, number>>, field: string, value: number): string | undefined {
  const isMask = field === "flags";
  const found = Object.entries(names).filter(([, number]) => (isMask ? (value & number) !== 0 : value === number));
  return found.map(([name]) => name).join("+") || undefined;
}

function octal(value: number): string {
  return `0${value.toString(8)}`;
}

function quote(value: unknown): string {
  const text = String(value);
  return /^[!-~]+$/.test(text) && !/[",]/.test(text) ? text : JSON.stringify(text);
}

function namespaceNames(flags: number): string {
  return (
    Object.entries(CLONE_NEW)
      .filter(([, bit]) => (flags & bit) !== 0)
      .map(([name]) => name)
      .join("+") || "none"
  );
}

function propagationNames(flags: number): string {
  const word = flags & MS.SHARED ? "shared" : flags & MS.SLAVE ? "slave" : flags & MS.PRIVATE ? "private" : "unbindable";
  return flags & MS.REC ? `r${word}` : word;
}

const ATTRIBUTE_NAMES: readonly (readonly [bigint, string])[] = [
  [1n, "ro"],
  [2n, "nosuid"],
  [4n, "nodev"],
  [8n, "noexec"],
  [0x10n, "noatime"],
  [0x20n, "strictatime"],
  [0x80n, "nodiratime"],
  [0x0020_0000n, "nosymfollow"],
];

function attributeNames(bits: bigint): string {
  if (bits === 0x70n) return "atime";
  return (
    ATTRIBUTE_NAMES.filter(([bit]) => (bits & bit) !== 0n)
      .map(([, name]) => name)
      .join(",") || `0x${bits.toString(16)}`
  );
}
