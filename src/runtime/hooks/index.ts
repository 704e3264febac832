/** Run one hook of the runtime's namespaces (config, POSIX-platform hooks). What init runs is native-bindings/init/hook.c. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

export interface HookCall {
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

/** @throws RuntError "hook": `error running poststop hook #0: exit status 1, stdout: , stderr: ...`, or `signal: killed, stdout...` */
export function runHook({ kind, index, path, args, env, timeout, cwd, state }: HookCall): void {
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
