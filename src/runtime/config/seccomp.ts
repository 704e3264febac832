/** linux.seccomp -> the program to compile and how to load it. */
import { EPERM } from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import {
  SECCOMP_ACTIONS,
  SECCOMP_ARCHITECTURES,
  SECCOMP_ERRNO_LIMIT,
  SECCOMP_FLAG_NEW_LISTENER,
  SECCOMP_FLAGS,
  SECCOMP_OPERATORS,
  type SpecSeccomp,
  surelyAllowed,
} from "../spec/index.ts";
import type { SeccompCondition, SeccompFilter, SeccompProfile, SeccompRule } from "./types.ts";
import type { Warn } from "./warnings.ts";

const ENOSYS = 38;
const POINTER = "/linux/seccomp";
/** What a waiting init still does between the load and execve(2). */
const CALLS_OF_INIT = ["sendmsg", "read", "close", "capget", "capset"];
/** What separates words and lines in the canonical text of a profile, which must stay unambiguous. */
const SEPARATOR = /[\0\n ]/;

type SpecSyscall = NonNullable<SpecSeccomp["syscalls"]>[number];

/** undefined: the configuration asks for no filter. Expects what `checkSpec` accepts. */
export function deriveSeccomp(
  seccomp: SpecSeccomp | null | undefined,
  warn: Warn,
): { readonly seccomp: SeccompFilter; readonly seccompProfile: SeccompProfile } | undefined {
  if (!seccomp?.defaultAction) return undefined;
  const syscalls = seccomp.syscalls ?? [];
  const listens = syscalls.some(({ action }) => action === "SCMP_ACT_NOTIFY");
  const allowed = surelyAllowed(seccomp, CALLS_OF_INIT);
  return {
    seccomp: {
      flags: deriveFlags(seccomp.flags, listens),
      roomForInit: CALLS_OF_INIT.every((call) => allowed.has(call)),
      ...(listens && { listener: { path: seccomp.listenerPath ?? "", metadata: seccomp.listenerMetadata ?? "" } }),
    },
    seccompProfile: deriveProfile(seccomp, syscalls, warn),
  };
}

/** Absent flags mean SPEC_ALLOW, an empty list means none (runc's habit). */
function deriveFlags(names: readonly string[] | null | undefined, listens: boolean): number {
  let flags = (names ?? ["SECCOMP_FILTER_FLAG_SPEC_ALLOW"]).reduce((sum, name) => sum | lookup(SECCOMP_FLAGS, name), 0);
  // seccomp(2): the one needs a listener, the other excludes it and changes nothing for a process of one thread.
  if (listens) flags = (flags | SECCOMP_FLAG_NEW_LISTENER) & ~SECCOMP_FLAGS.SECCOMP_FILTER_FLAG_TSYNC;
  else flags &= ~SECCOMP_FLAGS.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  return flags;
}

function deriveProfile(seccomp: SpecSeccomp, syscalls: readonly SpecSyscall[], warn: Warn): SeccompProfile {
  const { defaultAction, defaultErrnoRet, architectures } = seccomp;
  const fallback = returnValue(defaultAction ?? "", defaultErrnoRet);
  const rules: SeccompRule[] = [];
  const idle: string[] = [];
  const unusable: string[] = [];
  for (const { names, action, errnoRet, args } of syscalls) {
    const value = returnValue(action, errnoRet);
    const usable = isUnambiguous(names ?? [])
      ? (names ?? [])
      : (names ?? []).filter((name) => !SEPARATOR.test(name) || void unusable.push(name));
    // libseccomp refuses a rule that says what the default says.
    if (value === fallback) idle.push(...usable);
    else for (const conditions of alternatives(args ?? [])) rules.push({ action: value, names: usable, conditions });
  }
  if (unusable.length > 0) {
    const list = unusable.map((name) => JSON.stringify(name)).join(", ");
    warn("seccomp-unknown-call", `${POINTER}/syscalls`, `linux.seccomp: unknown system calls are ignored: ${list}`);
  }
  return {
    defaultAction: fallback,
    architectures: (architectures ?? []).map((name) => lookup(SECCOMP_ARCHITECTURES, name)),
    rules,
    idle,
    // A program of the future gets the answer that makes it fall back, not the one that makes it give up.
    enosysForNewer: !PASSING.includes(defaultAction ?? "") && fallback !== SECCOMP_ACTIONS.SCMP_ACT_ERRNO + ENOSYS,
  };
}

/** One look at all of them: a profile has hundreds, and a regular expression for each would take longer than the rest. */
function isUnambiguous(names: readonly string[]): boolean {
  const joined = names.join("");
  return !joined.includes(" ") && !joined.includes("\n") && !joined.includes("\0");
}

/** With these actions another process decides about a call that the profile does not know. */
const PASSING: readonly string[] = ["SCMP_ACT_ALLOW", "SCMP_ACT_LOG", "SCMP_ACT_TRACE"];

function returnValue(action: string, errno: number | null | undefined): number {
  const carries = action in SECCOMP_ERRNO_LIMIT;
  return lookup(SECCOMP_ACTIONS, action) + (carries ? (errno ?? EPERM) : 0);
}

const UNCONDITIONAL: readonly (readonly SeccompCondition[])[] = [[]];

/** Conditions hold together; several on one argument are alternatives instead (runc's rule), because libseccomp takes one each. */
function alternatives(args: NonNullable<SpecSyscall["args"]>): readonly (readonly SeccompCondition[])[] {
  if (args.length === 0) return UNCONDITIONAL;
  const conditions = args.map(({ index, op, value, valueTwo }) => ({
    index,
    operator: lookup(SECCOMP_OPERATORS, op),
    value: BigInt(value),
    valueTwo: BigInt(valueTwo ?? 0),
  }));
  const repeated = new Set(conditions.map(({ index }) => index)).size < conditions.length;
  return repeated ? conditions.map((condition) => [condition]) : [conditions];
}

function lookup(table: Readonly<Record<string, number>>, name: string): number {
  const value = table[name];
  if (value === undefined)
    throw new RuntError("config-invalid", `linux.seccomp: unknown name ${JSON.stringify(name)}`, { pointer: POINTER });
  return value;
}
