/** --debug of create, run and exec: writes each step when it begins to the log, or to stderr without one. Loaded only with this flag. */
import { observe } from "../host/index.ts";
import { describeOperation, type Op, type Plan } from "../plan/index.ts";
import { SECCOMP_FLAGS } from "../spec/index.ts";
import type { CommandLine } from "./parse.ts";
import type { Reporter } from "./report.ts";

const STEPWISE: ReadonlySet<string> = new Set(["create", "run", "exec"]);

export function wantsSteps({ global, verb }: CommandLine): boolean {
  return verb !== undefined && STEPWISE.has(verb.name) && (global["debug"] === true || global["log-level"] === "debug");
}

/** From here on; what observes already goes on doing so. */
export function debugTo(reporter: Reporter, verb: string): void {
  const say = (message: string): void => reporter.note("debug", message);
  observe({
    phase: (name) => say(`phase ${name}`),
    operation: (plan, index) => tellOperation(plan as Pick<Plan, "ops">, index, verb === "exec", say),
  });
}

/** Writes all operations of the helper when it is started, because it works beside the runtime and reports only failures. */
function tellOperation({ ops }: Pick<Plan, "ops">, index: number, isExec: boolean, say: (message: string) => void): void {
  const op = ops[index];
  if (!op) return;
  say(`runtime: ${textOf(op)}`);
  if (op.op !== "helper.spawn") return;
  say("nsexec container setup: the helper");
  const first = ops.find(({ actor }) => actor === "init");
  for (const other of ops) {
    if (other === first) say("child process in init()");
    const words = runcsWords(other, isExec);
    if (words !== undefined) say(words);
    if (other.actor !== "runtime") say(`${other.actor}: ${textOf(other)}`);
  }
}

/** A line that runc's log has at the same point: runc's tests look for it, and other readers of such logs may do so, too. */
function runcsWords({ op, actor, args }: Op, isExec: boolean): string | undefined {
  // Without TSYNC, which it does not pass on: one thread is all there is.
  if (op === "seccomp.load") return `seccomp filter flags: ${args.flags & ~SECCOMP_FLAGS.SECCOMP_FILTER_FLAG_TSYNC}`;
  if (op === "process.affinity" && actor === "intermediate") return `nsexec: affinity: 0x${maskOf(args.cpus).toString(16)}`;
  if (op === "process.exec") return isExec ? "setns_init: about to exec" : "init: closing the pipe to signal completion";
  return undefined;
}

function maskOf(cpus: readonly number[]): bigint {
  return cpus.reduce((mask, cpu) => mask | (1n << BigInt(cpu)), 0n);
}

/** Without command lines, which may be private: a log is for everybody. */
function textOf(op: Op): string {
  if (op.op === "process.exec") return `${op.op} ${op.args.args[0] ?? ""}`;
  if (op.op === "hook.run") return `${op.op} ${op.args.kind} ${op.args.index}: ${op.args.path}`;
  return `${op.op} ${describeOperation(op)}`.trimEnd();
}
