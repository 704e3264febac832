/**
 * A trace of `run` against its plan, in both directions: every call that changes something belongs to an operation, in the order of the
 * plan, and every call that an operation declares has been made. What is optional (`?` in src/runtime/plan/system-calls.ts) is counted: these are
 * the branches of the tables of outcomes.
 */
import { type CallPattern, matches, type PlannedOp, parsePattern, patternsOf } from "./call-pattern.ts";
import type { TracedCall } from "./strace.ts";

/** Calls that only read or wait, or that concern the caller's own memory, signals and descriptors. */
const LOOKING = new Set(
  (
    "access arch_prctl brk capget clock_gettime close close_range dup dup2 dup3 epoll_create1 eventfd2 exit_group faccessat faccessat2 fcntl fstat fstatfs futex getcwd getdents64 getegid geteuid " +
    "getgid getgroups getpeername getpgrp getpid getppid getrandom getsockname getsockopt gettid getuid kcmp lgetxattr lseek lstat madvise " +
    "memfd_create mmap mprotect mremap munmap nanosleep newfstatat pidfd_open pipe2 poll ppoll pread64 read readlink readlinkat readv recvfrom recvmsg restart_syscall rseq rt_sigaction " +
    "rt_sigpending rt_sigprocmask rt_sigreturn rt_sigtimedwait sched_getaffinity sched_yield set_robust_list set_tid_address setsockopt sigaltstack signalfd4 socket socketpair " +
    "stat statfs statx sysinfo tgkill uname wait4 waitid"
  ).split(" "),
);

/** Whether a call changes nothing outside its process. */
export function looksOnly({ name, args, text }: TracedCall): boolean {
  if (LOOKING.has(name)) return true;
  if (/^open(at2?)?$/.test(name)) return !/O_(WRONLY|RDWR|CREAT|TRUNC)/.test(text.replace(/"(\\.|[^"\\])*"/g, ""));
  // `run` becomes a subreaper before the plan begins, and independently of it.
  if (name === "prctl") return /PR_(GET_|CAPBSET_READ|SET_CHILD_SUBREAPER|CAP_AMBIENT_IS_SET)/.test(text);
  if (name === "prlimit64") return args[2] === "NULL";
  if (name === "ioctl") return /SIOCGIF|TCGETS|TIOCGWINSZ|TIOCGPTN|NS_GET_/.test(text);
  if (name === "seccomp") return (args[0] ?? "").includes("SECCOMP_GET_");
  if (name === "bpf") return /BPF_PROG_QUERY|BPF_PROG_GET_FD_BY_ID/.test(args[0] ?? "");
  return false;
}

interface Step {
  readonly op: PlannedOp;
  readonly label: string;
  readonly patterns: readonly CallPattern[];
}

/** `run` becomes the monitor when the plan is done. */
const MONITOR = ["?memfd_create(_, _)", "?+write(_, _)", 'execveat(_, "", _, _, AT_EMPTY_PATH)'].map(parsePattern);

export type Branches = Map<string, { taken: number; skipped: number }>;

/** docs/plan-branches.md. */
export function branchesPage(branches: Branches, bundles: number): string {
  const rows = [...branches].sort().map(([name, { taken, skipped }]) => {
    const [op, ...call] = name.split(": ");
    return `| ${op} | \`${call
      .join(": ")
      .replace(/^[<>?+]+/, "")
      .replaceAll("|", "\\|")}\` | ${taken} | ${skipped} |\n`;
  });
  return `# Branches of the operations

<!-- Written by \`make plan-branches\`. -->

The numbers come from ${bundles} random bundles (test/support/random-bundles.ts) on cgroup v1. \`strace -f\` recorded the
system calls of \`runt run\`. Every recorded call that changes something was declared by an operation of the plan
(src/runtime/plan/system-calls.ts). The calls came in the order of the plan and with its arguments. Every declared call
was made, except for the calls below. Some outcomes of an operation, or values of its fields, leave these calls out.

Some outcomes did not occur: those of older kernels (\`mount\` instead of \`move_mount\`; test/native refuses the newer
calls), of cgroup v2, and of terminals.

| operation | call | made | left out |
| --- | --- | ---: | ---: |
${rows.join("")}`;
}

export interface Comparison {
  /** In words; empty where trace and plan are equal. */
  readonly differences: readonly string[];
  /** `operation: declared call`, and how often it was made or left out. */
  readonly branches: Branches;
}

/** Without a head start (one processor, or it is switched off) no message is sent before the turn of its operation. */
export function comparePlan(ops: readonly PlannedOp[], calls: readonly TracedCall[], program: string): Comparison {
  const streams = streamsOf(calls, program);
  const branches: Branches = new Map();
  const hasHeadStart = calls.some(({ name, text }) => name === "execveat" && text.includes('"plan"') && text.includes('"early"'));
  const inTurn = (pattern: CallPattern) => (pattern.name === "sendmsg" ? { ...pattern, early: false } : pattern);
  const differences = (["runtime", "intermediate", "init"] as const).flatMap((actor) => {
    const steps = stepsOf(ops, actor).map((step) => (hasHeadStart ? step : { ...step, patterns: step.patterns.map(inTurn) }));
    return align(steps, streams[actor], branches).map((words) => `${actor}: ${words}`);
  });
  return { differences, branches };
}

function stepsOf(ops: readonly PlannedOp[], actor: string): Step[] {
  const steps = ops.flatMap((op, index): Step[] => {
    const label = `${index + 1} ${op.op}`;
    const patterns = patternsOf(op.op);
    if (op.actor === actor) return [{ op, label, patterns: patterns.filter(({ child }) => !child) }];
    const made = op.op === "helper.spawn" ? "intermediate" : op.op === "process.clone" ? "init" : "";
    return made === actor ? [{ op, label, patterns: patterns.filter(({ child }) => child) }] : [];
  });
  if (actor === "runtime") steps.push({ op: { op: "sync.end", actor, args: {} }, label: "monitor", patterns: MONITOR });
  return steps;
}

type Streams = Record<"runtime" | "intermediate" | "init", TracedCall[]>;

/** The calls of each actor. Children that an operation needs belong to their actor until they execute a program. */
function streamsOf(calls: readonly TracedCall[], program: string): Streams {
  const actors = new Map<number, keyof Streams>();
  const ended = new Set<number>();
  const streams: Streams = { runtime: [], intermediate: [], init: [] };
  const runtime = calls[0]!.pid;
  /** A helper in init's namespaces makes file systems for it. */
  let inInitsPlace = false;
  actors.set(runtime, "runtime");
  for (const call of calls.slice(1)) {
    let actor = actors.get(call.pid);
    if (actor === undefined) {
      // A new process may be seen before the call that made it has returned.
      const maker = calls.find((candidate) => madeBy(candidate) === call.pid);
      const from = maker && actors.get(maker.pid);
      if (maker === undefined || from === undefined) throw new Error(`no parent of ${call.pid}: ${call.text}`);
      actor = from;
      if (from === "runtime" && streams.intermediate.length === 0 && spawnsHelper(calls, call.pid)) actor = "intermediate";
      if (from === "intermediate" && maker.text.includes("CLONE_PARENT")) actor = "init";
      actors.set(call.pid, actor);
    }
    if (ended.has(call.pid)) continue;
    inInitsPlace ||= actor === "intermediate" && /^unshare\(.*CLONE_NEWNS/.test(call.text);
    streams[inInitsPlace && actor === "intermediate" && /^fs(open|config|mount)$/.test(call.name) ? "init" : actor].push(call);
    if (replacesItself(call, actor, call.pid === runtime, program)) ended.add(call.pid);
  }
  return streams;
}

/** Pid of the new process. In a pid namespace the result is the number inside; strace adds the one outside. */
function madeBy({ name, result, text }: TracedCall): number | undefined {
  if (!/^(v?fork|clone3?)$/.test(name)) return undefined;
  const [, outside] = /= \d+ \/\* (\d+) in strace's PID NS/.exec(text) ?? [];
  return outside === undefined ? result : Number(outside);
}

const spawnsHelper = (calls: readonly TracedCall[], pid: number): boolean =>
  calls.some((call) => call.pid === pid && call.name === "execveat" && call.text.includes('"plan"'));

/** After this the process is no longer the runtime or its helper. */
function replacesItself(call: TracedCall, actor: string, isRuntime: boolean, program: string): boolean {
  if (call.result !== 0 && call.result !== undefined) return false;
  if (call.name === "execveat") return isRuntime;
  if (call.name !== "execve") return false;
  return actor !== "init" || call.args[0] === JSON.stringify(program) || !isRuntime;
}

/** Divides the calls among the steps, in order. Returns what stops the division that gets furthest. */
function align(steps: readonly Step[], all: readonly TracedCall[], branches: Branches): string[] {
  const { calls, missing } = withoutEarly(steps, all);
  const dead = new Set<number>();
  let furthest = { step: 0, call: -1, wants: "" };

  /** How many calls each step takes, from step and call on. */
  const divide = (step: number, call: number): number[] | undefined => {
    if (step === steps.length) {
      const rest = calls.findIndex((candidate, at) => at >= call && !looksOnly(candidate));
      if (rest < 0) return [];
      note(step, rest, "nothing more");
      return undefined;
    }
    const key = step * (calls.length + 1) + call;
    if (dead.has(key)) return undefined;
    const { patterns, op } = steps[step]!;
    const seen = patterns.map(({ early }) => (early ? 1 : 0));
    const ends: { at: number; seen: number[] }[] = [];
    for (let at = call; ; at++) {
      const wanting = patterns.findIndex(({ optional }, index) => !optional && seen[index] === 0);
      if (wanting < 0) ends.push({ at, seen: [...seen] });
      const next = calls[at];
      const taken = next === undefined ? -1 : choose(patterns, seen, op, next);
      if (taken >= 0) seen[taken]!++;
      else if (next === undefined || !looksOnly(next)) {
        note(step, at, wanting < 0 ? "" : patterns[wanting]!.text);
        break;
      }
    }
    // Of two divisions of equal length the earlier operation gets the call.
    for (const { at, seen: had } of ends.reverse()) {
      const rest = divide(step + 1, at);
      if (!rest) continue;
      count(steps[step]!, had);
      return [at - call, ...rest];
    }
    dead.add(key);
    return undefined;
  };

  const note = (step: number, call: number, wants: string): void => {
    if (call > furthest.call || (call === furthest.call && step > furthest.step)) furthest = { step, call, wants };
  };
  const count = ({ op, patterns, label }: Step, seen: readonly number[]): void => {
    patterns.forEach(({ optional, early, text }, index) => {
      if (!optional || early || label === "monitor") return;
      const key = `${op.op}: ${text}`;
      const entry = branches.get(key) ?? { taken: 0, skipped: 0 };
      if (seen[index]! > 0) entry.taken++;
      else entry.skipped++;
      branches.set(key, entry);
    });
  };

  if (divide(0, 0)) return missing;
  const { step, call, wants } = furthest;
  const where = steps[step]?.label ?? "the end of the plan";
  const before = calls.slice(Math.max(0, call - 3), call).map(({ text }) => `\n    after ${text.slice(0, 200)}`);
  return [
    ...missing,
    `at ${where}${wants && ` (still wants ${wants})`}: ${calls[call]?.text.slice(0, 400) ?? "no more calls"}${before.join("")}`,
  ];
}

/** The first pattern that takes the call: one that is still required before one that is only allowed. */
function choose(patterns: readonly CallPattern[], seen: readonly number[], op: PlannedOp, call: TracedCall): number {
  const free = (index: number, { many, early }: CallPattern) => !early && (many || seen[index] === 0);
  const fitting = patterns.flatMap((pattern, index) => (free(index, pattern) && matches(pattern, op, call) ? [index] : []));
  return fitting.find((index) => !patterns[index]!.optional && seen[index] === 0) ?? fitting[0] ?? -1;
}

/** Calls that may come before their operation's turn are taken out first. */
function withoutEarly(steps: readonly Step[], all: readonly TracedCall[]): { calls: TracedCall[]; missing: string[] } {
  const calls = [...all];
  const missing: string[] = [];
  for (const { op, patterns, label } of steps) {
    const never: string[] = [];
    for (const pattern of patterns.filter(({ early }) => early)) {
      const fitting = calls.filter((call) => matches(pattern, op, call));
      const taken = pattern.many ? fitting : fitting.slice(0, 1);
      for (const call of taken) calls.splice(calls.indexOf(call), 1);
      if (taken.length === 0 && !pattern.optional) never.push(pattern.text);
    }
    if (never.length > 0) missing.push(`${label}: never ${never.join(", ")}`);
  }
  return { calls, missing };
}
