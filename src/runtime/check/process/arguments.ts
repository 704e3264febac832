/** What a program can be started with: the kernel's limits of argv and envp (execve(2), "Limits on size of arguments and environment"). */
import type { Spec } from "../../spec/index.ts";
import type { Check, Report } from "../finding.ts";
import { utf8Length } from "../suggest.ts";

/** MAX_ARG_STRLEN of include/uapi/linux/binfmts.h, 32 pages of 4 KiB, with the NUL. */
const LONGEST = 131_072;
/** bprm_stack_limits of fs/exec.c: a quarter of RLIMIT_STACK, at most 3/4 of _STK_LIM (8 MiB) and at least ARG_MAX. */
const MOST = 6 << 20;
const LEAST = 131_072;
const POINTER_SIZE = 8;

/** @param soft RLIMIT_STACK in bytes; undefined: as large as it gets */
function spaceFor(soft: bigint | undefined): number {
  if (soft === undefined || soft < 0n || soft / 4n > BigInt(MOST)) return MOST;
  return Math.max(LEAST, Number(soft / 4n));
}

/** The last RLIMIT_STACK of process.rlimits. */
function ownStack({ process }: Spec): bigint | undefined {
  const soft = process?.rlimits?.findLast(({ type }) => type === "RLIMIT_STACK")?.soft;
  return soft === undefined ? undefined : BigInt(soft);
}

/** Strings with their NULs, and a pointer to each. `most`: above it there is no need to know more exactly. */
function sizeOf(strings: readonly string[], most: number): number {
  let size = strings.length * (POINTER_SIZE + 1);
  for (const text of strings) size += text.length;
  // No more bytes than three for a unit, and no less than one: only between these each has to be looked at.
  if (size > most || size * 3 <= most) return size;
  for (const text of strings) size += utf8Length(text) - text.length;
  return size;
}

/** The last of several entries with one name counts. */
function environment(entries: readonly string[]): readonly string[] {
  const byName = new Map<string, string>();
  for (const entry of entries) {
    const equals = entry.indexOf("=");
    byName.set(equals < 0 ? entry : entry.slice(0, equals), entry);
  }
  return [...byName.values()];
}

/** Bytes that are too many for this space, or undefined. */
function excess({ process }: Spec, space: number): number | undefined {
  const [args, env] = [process?.args ?? [], process?.env ?? []];
  if (sizeOf(args, space) + sizeOf(env, space) <= space) return undefined;
  const size = sizeOf(args, space) + sizeOf(environment(env), space);
  return size > space ? size : undefined;
}

function reportExcess(report: Report, size: number, space: number, stack: string): void {
  // The path of the program and what the runtime adds (HOME) take some, too.
  const needed = Math.ceil(((size + 4096) * 4) / (1 << 20));
  const remedy =
    size > MOST
      ? "pass less, in a file for example"
      : `pass less, or set RLIMIT_STACK in process.rlimits to ${needed} MiB (${needed * (1 << 20)}) or more`;
  report.error(
    "arguments-too-large",
    "/process",
    `process.args and process.env take at least ${size} bytes, the kernel lets a program start with ${space} (${stack})`,
    remedy,
  );
}

/** execve(2), E2BIG: each string, and all of them, as far as the configuration alone says it. */
export const argumentSizes: Check = (spec, report) => {
  for (const field of ["args", "env"] as const) {
    spec.process?.[field]?.forEach((text, index) => {
      if (text.length * 3 < LONGEST || utf8Length(text) < LONGEST) return;
      const what = field === "args" ? `argument ${index}` : `process.env: "${text.slice(0, Math.min(40, text.indexOf("=") >>> 0))}"`;
      const message = `${what} has ${utf8Length(text)} bytes, the kernel takes ${LONGEST - 1} in one string`;
      report.error("argument-too-long", `/process/${field}/${index}`, message);
    });
  }
  const soft = ownStack(spec);
  const space = spaceFor(soft);
  const size = excess(spec, space);
  if (size !== undefined) reportExcess(report, size, space, space === MOST ? "never more" : `a quarter of RLIMIT_STACK, at least ${LEAST}`);
};

/** The same where the container gets the limit of the caller. @param soft of RLIMIT_STACK, as in proc_pid_limits(5) */
export function callerArgumentSizes(spec: Spec, report: Report, soft: string | undefined): void {
  if (soft === undefined || soft === "unlimited" || ownStack(spec) !== undefined) return;
  const space = spaceFor(BigInt(soft));
  const size = excess(spec, space);
  if (size === undefined || excess(spec, MOST) !== undefined) return;
  reportExcess(report, size, space, "a quarter of the RLIMIT_STACK of the caller, which the container gets");
}
