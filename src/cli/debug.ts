/** --debug of create, run and exec: each step, as it is begun, to where errors are recorded, else to stderr. Loaded only when it is asked for. */
import { observe, operation, phase } from "../host/tracing.ts";
import { describeOperation } from "../plan/describe.ts";
import type { Op, Plan } from "../plan/index.ts";
import type { CommandLine } from "./parse.ts";
import type { Reporter } from "./report.ts";

const STEPWISE: ReadonlySet<string> = new Set(["create", "run", "exec"]);

export function wantsSteps({ global, verb }: CommandLine): boolean {
  return verb !== undefined && STEPWISE.has(verb.name) && (global["debug"] === true || global["log-level"] === "debug");
}

/** From here on; what observes already goes on doing so. */
export function debugTo(reporter: Reporter): void {
  const say = (message: string): void => reporter.note("debug", message);
  const [onPhase, onOperation] = [phase, operation];
  observe(
    (name) => {
      onPhase?.(name);
      say(`phase ${name}`);
    },
    (plan, index) => {
      onOperation?.(plan, index);
      tellOperation(plan as Pick<Plan, "ops">, index, say);
    },
  );
}

/** The helper's operations are all told when it is started: it works while the runtime does, and tells of what fails. */
function tellOperation({ ops }: Pick<Plan, "ops">, index: number, say: (message: string) => void): void {
  const op = ops[index];
  if (!op) return;
  say(`runtime: ${textOf(op)}`);
  if (op.op !== "helper.spawn") return;
  for (const other of ops) {
    if (other.actor !== "runtime") say(`${other.actor}: ${textOf(other)}`);
    // runc's words, which its tests look for.
    if (other.op === "seccomp.load") say(`seccomp filter flags: ${other.args.flags}`);
  }
}

/** Without command lines, which may be private: a log is for everybody. */
function textOf(op: Op): string {
  if (op.op === "process.exec") return `${op.op} ${op.args.args[0] ?? ""}`;
  if (op.op === "hook.run") return `${op.op} ${op.args.kind} ${op.args.index}: ${op.args.path}`;
  return `${op.op} ${describeOperation(op)}`.trimEnd();
}
