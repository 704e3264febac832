/** The hooks of a container's life after create, from its state record. */
import type { OpArgs } from "../../shared/protocol/index.ts";
import type { HooksConfig } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { hookState } from "../plan/index.ts";
import type { HookRecord, StateRecord } from "../state/index.ts";
import { warn } from "./warn.ts";

/** What later verbs need of the configuration's hooks. */
export function hooksRecord({ startContainer, poststart, poststop }: HooksConfig): Pick<StateRecord, "hooks"> {
  if (!startContainer && !poststart && !poststop) return {};
  return { hooks: { startContainer: startContainer !== undefined, poststart: poststart ?? [], poststop: poststop ?? [] } };
}

/** An operation of a plan. `pid` is init's. */
export function runPlannedHook(args: OpArgs<"hook.run">, pid: number): void {
  const { kind, index, path, timeout, cwd, statePrefix, stateSuffix } = args;
  runHook({
    kind,
    index,
    path,
    args: args.args,
    env: args.inheritEnv ? undefined : args.env,
    timeout,
    cwd,
    state: statePrefix + pid + stateSuffix,
  });
}

/** The first failure ends it. @throws RuntError "hook" */
export function runPoststart(record: StateRecord): void {
  for (const [index, hook] of (record.hooks?.poststart ?? []).entries()) runHook(call(record, "poststart", index, hook));
}

/** Runs all hooks, also after one that fails: nothing is left that could be undone, so a failure is only a line on stderr (config, poststop). */
export function runPoststop(record: StateRecord): void {
  for (const [index, hook] of (record.hooks?.poststop ?? []).entries()) {
    try {
      runHook(call(record, "poststop", index, hook));
    } catch (error) {
      warn((error as Error).message);
    }
  }
}

function call(record: StateRecord, kind: "poststart" | "poststop", index: number, { path, args, env, timeout }: HookRecord): HookCall {
  const stopped = kind === "poststop";
  const { statePrefix, stateSuffix } = hookState(record, stopped ? "stopped" : "running");
  const state = statePrefix + (stopped ? 0 : record.pid) + stateSuffix;
  return { kind, index, path, args, env, timeout, cwd: record.bundle, state };
}

interface HookCall {
  readonly kind: string;
  readonly index: number;
  readonly path: string;
  readonly args: readonly string[];
  /** undefined: this process's. */
  readonly env: readonly string[] | undefined;
  /** Seconds; 0 = none. */
  readonly timeout: number;
  /** Working directory, if it is still there. */
  readonly cwd: string;
  /** The state document on stdin. */
  readonly state: string;
}

/** Bytes of stdout and of stderr in the message. */
const OUTPUT_LIMIT = 4096;
const STDIO = 3;
const LONGEST_MS = 0x7fff_ffff;

/**
 * Run one hook of the runtime's namespaces (config, POSIX-platform hooks). What init runs is native-bindings/init/hook.c.
 * @throws RuntError "hook": `error running poststop hook #0: exit status 1, stdout: , stderr: ...`, or `signal: killed, stdout...`
 */
function runHook({ kind, index, path, args, env, timeout, cwd, state }: HookCall): void {
  const fail = (reason: string, cause?: unknown) => new RuntError("hook", `error running ${kind} hook #${index}: ${reason}`, { cause });
  // What the caller handed over for the container has reached the helper and is nothing for a hook.
  host.closeOnExecFrom(STDIO);
  let result: ReturnType<typeof host.runProgram>;
  try {
    const limit = timeout === 0 ? -1 : Math.min(timeout * 1000, LONGEST_MS);
    result = host.runProgram(path, args, env, state, limit, OUTPUT_LIMIT, host.stat(cwd) ? cwd : undefined);
  } catch (error) {
    // By a signal that ends this verb.
    if (host.isErrno(error, "EINTR")) throw error;
    throw fail(`exec ${path}: ${host.reason(error)}`, error);
  }
  if (result.timedOut) throw fail(`hook ran past specified timeout of ${timeout}.0s`);
  if (result.status !== 0) {
    const ended = result.signal === undefined ? `exit status ${result.status}` : `signal: ${result.signal}`;
    throw fail(`${ended}, stdout: ${result.stdout.trimEnd()}, stderr: ${result.stderr.trimEnd()}`);
  }
}
