/** The system calls that an operation declares (src/runtime/plan/system-calls.ts), compared with those of a trace. */

import { declaredSystemCalls } from "../../src/runtime/plan/index.ts";
import type { OpName } from "../../src/shared/protocol/index.ts";
import { namesOf, numberOf, splitList, stringOf, type TracedCall } from "./strace.ts";

export interface PlannedOp {
  readonly op: OpName;
  readonly actor: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface CallPattern {
  readonly text: string;
  readonly name: string;
  readonly args: readonly string[];
  readonly optional: boolean;
  readonly many: boolean;
  /** In the process that the operation makes. */
  readonly child: boolean;
  /** Perhaps before its turn, while the actor would only wait. */
  readonly early: boolean;
}

export function patternsOf(op: OpName): CallPattern[] {
  return declaredSystemCalls(op).map(parsePattern);
}

export function parsePattern(text: string): CallPattern {
  const [start = "", marks = "", name = ""] = /^([<>?+]*)(\w+)\(/.exec(text) ?? [];
  return {
    text,
    name,
    args: splitList(text, start.length).parts,
    optional: marks.includes("?"),
    many: marks.includes("+"),
    child: marks.includes(">"),
    early: marks.includes("<"),
  };
}

/** Other names for the same flag. */
const SAME_NAME: Readonly<Record<string, string>> = { vfork: "clone", mkfifo: "mknod", open: "openat", lsetxattr: "setxattr" };

/** Flags that concern the caller's own descriptors only. */
const OWN = /^(\w+_CLOEXEC|O_LARGEFILE|O_NOCTTY|O_RDONLY|O_TRUNC|AT_STATX_\w+|0x[0-9a-f]+)$/;

export function matches(pattern: CallPattern, op: PlannedOp, call: TracedCall): boolean {
  if ((SAME_NAME[pattern.name] ?? pattern.name) !== (SAME_NAME[call.name] ?? call.name)) return false;
  const args = declaredForm(call);
  if (pattern.name === "mkfifo") return valueMatches(pattern.args[0] ?? "_", op, args[0] ?? "");
  if (pattern.name === "fsconfig" && pattern.args[2] === "$data") return isDatum(op, args) && valueMatches(pattern.args[1]!, op, args[1]!);
  return pattern.args.length <= args.length && pattern.args.every((expected, at) => valueMatches(expected, op, args[at]!));
}

/** The arguments in the declared form: open(2) gets those of openat(2), the old clone(2) only its flags. */
function declaredForm({ name, args }: TracedCall): readonly string[] {
  if (name === "open") return ["-100 /* AT_FDCWD */", ...args];
  return name === "clone" ? args.slice(1).map((arg) => arg.replace(/^flags=/, "")) : args;
}

/** A key and a value, of which the plan has one word; the mode may be that of the directory which the mount covers. */
function isDatum({ args }: PlannedOp, [, , key = "", value = ""]: readonly string[]): boolean {
  const data = (args["data"] as readonly string[]).map(latin1);
  const inherited = args["inheritMode"] === true && stringOf(key) === "mode" && !data.some((word) => word.startsWith("mode="));
  return inherited || data.includes(`${stringOf(key)}=${stringOf(value)}`);
}

function valueMatches(expected: string, op: PlannedOp, actual: string): boolean {
  if (expected === "_") return true;
  if (expected === actual) return true;
  if (expected.startsWith('"')) {
    const text = (JSON.parse(expected) as string).replace(/\$(\w+)/, (_, field: string) => String(op.args[field]));
    return globMatches(latin1(text), stringOf(actual));
  }
  if (expected.startsWith("{")) return structMatches(expected, op, actual);
  if (/^\d+$/.test(expected)) return numberOf(actual) === numberOf(expected);
  return expected.startsWith("$") ? fieldMatches(expected.split("|"), op, actual) : sameFlags(expected.split("|"), actual);
}

/** `*` is any part of the text. */
function globMatches(expected: string, actual: string | undefined): boolean {
  const parts = expected.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return actual !== undefined && new RegExp(`^${parts.join(".*")}$`, "s").test(actual);
}

/** `{name=value, ...}`: these members have these values. */
function structMatches(expected: string, op: PlannedOp, actual: string): boolean {
  const members = new Map(splitList(actual, 1).parts.map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]));
  return splitList(expected, 1).parts.every((part) => {
    const at = part.indexOf("=");
    const value = members.get(part.slice(0, at));
    return value !== undefined && valueMatches(part.slice(at + 1), op, value);
  });
}

function sameFlags(expected: readonly string[], actual: string): boolean {
  const names = namesOf(actual).filter((name) => !OWN.test(name));
  const wanted = expected.filter((name) => !OWN.test(name));
  return names.length === wanted.length && wanted.every((name) => names.includes(name));
}

/** Numbers of flags that a call has beside those of a field. */
const FLAGS: Readonly<Record<string, bigint>> = { CLONE_PARENT: 0x8000n, MS_REC: 0x4000n, O_CLOEXEC: 0x8_0000n };

/** Beside the namespaces of process.clone, where it has a cgroup's descriptor. */
const CLONE_INTO_CGROUP = 0x2_0000_0000n;

/** `$field`, perhaps joined with other fields and flags by `|`. */
function fieldMatches([field = "", ...more]: readonly string[], { args }: PlannedOp, actual: string): boolean {
  const value = args[field.slice(1)];
  if (Array.isArray(value)) return listMatches(value, actual, more[0]);
  const text = stringOf(actual);
  if (text !== undefined) return latin1(String(value)) === text;
  const number = numberOf(actual);
  if (number === undefined || value === undefined) return false;
  const numberFor = (word: string) => (word.startsWith("$") ? BigInt(args[word.slice(1)] as string) : (FLAGS[word] ?? 0n));
  const flags = more.reduce((sum, word) => sum | numberFor(word), BigInt(value as string | number | boolean));
  return number === flags || (number & ~(FLAGS["O_CLOEXEC"]! | CLONE_INTO_CGROUP)) === flags;
}

/** argv and environments as lists; numbers as they stand in a text (id maps); one word of a list of files, or of NAME=VALUE. */
function listMatches(value: readonly unknown[], actual: string, added = ""): boolean {
  if (actual === "NULL") return value.length === 0;
  if (actual.startsWith("[")) {
    const all = splitList(actual, 1).parts;
    // A variable that is added where the list does not have it.
    const items = added !== "" && all.length > value.length && stringOf(all.at(-1)!)?.startsWith(`${added}=`) ? all.slice(0, -1) : all;
    if (items.length !== value.length) return false;
    return value.every((item, at) =>
      typeof item === "string" ? stringOf(items[at]!) === latin1(item) : numberOf(items[at]!) === BigInt(item as number),
    );
  }
  const text = stringOf(actual);
  if (text === undefined) return value.some((item) => typeof item === "number" && (BigInt(item) & ~FLAGS["MS_REC"]!) === numberOf(actual));
  if (value.every((item) => typeof item === "number")) return (text.match(/\d+/g) ?? []).join() === value.join();
  return value.some((item) => latin1(item as string) === text);
}

/** As strace has it: a character a byte. */
const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
