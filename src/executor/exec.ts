/** A further process in the container, with a deadline that ends everything it has started. */
import { closeSync } from "node:fs";
import { execa } from "execa";
import { ExecutorError } from "./errors.ts";
import { type Cgroup, killCgroup, makeSubCgroup, processesIn, removeSubCgroup } from "./process/cgroups.ts";
import { killDescendants } from "./process/descendants.ts";
import { Ring } from "./ring.ts";
import { failure, lastLine, openLog } from "./runtime/call.ts";
import type { Runtime } from "./runtime/client.ts";
import { descriptors } from "./runtime/stdio.ts";

export interface ExecRequest {
  readonly cmd: string;
  readonly args?: readonly string[];
  /** Added to the container's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** "uid", "uid:gid", or names of the container's passwd and group files. Default: that of the container. */
  readonly user?: string;
  /** Milliseconds; then everything that it has started is killed. Default: none. */
  readonly deadlineMs?: number;
  /** How many of the last bytes of each stream are kept. Default: 4096. */
  readonly ringBytes?: number;
  /** Keep stderr apart instead of joining it with stdout. */
  readonly separate?: boolean;
  readonly input?: string;
}

export interface ExecResult {
  /** 128 + signal when a signal ended it; null: the deadline did. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The last bytes: of stdout, and of stderr unless that is separate. */
  readonly output: Buffer;
  /** With `separate`. */
  readonly stderr?: Buffer;
  /** Bytes that were printed in all. */
  readonly outputBytes: number;
}

const DEFAULT_RING = 4096;
const HIGHEST_RING = 64 << 20;
const KILL_BOUND_MS = 5_000;
/** How long output is waited for that a process left behind could still write. */
const LINGER_MS = 50;

/** @throws ExecutorError invalid-argument */
export function checkExec({ cmd, deadlineMs, ringBytes = DEFAULT_RING, env = {} }: ExecRequest): void {
  const refuse = (field: string, reason: string) => {
    throw new ExecutorError("invalid-argument", `${field}: ${reason}`, { field });
  };
  if (cmd === "") refuse("cmd", "is empty");
  if (deadlineMs !== undefined && !(deadlineMs > 0 && Number.isFinite(deadlineMs))) refuse("deadlineMs", `${deadlineMs} is no time`);
  if (!Number.isInteger(ringBytes) || ringBytes < 0 || ringBytes > HIGHEST_RING)
    refuse("ringBytes", `${ringBytes} is not between 0 and ${HIGHEST_RING}`);
  for (const name of Object.keys(env)) if (name === "" || name.includes("=")) refuse("env", `bad name ${JSON.stringify(name)}`);
}

export interface ExecTarget {
  readonly runtime: Runtime;
  readonly id: string;
  readonly cgroup: Cgroup | undefined;
  /** Unique among the execs of this container, of all supervisors. */
  readonly name: string;
  /** UID or UID:GID. */
  readonly user: string | undefined;
}

/** @throws RuntimeError when the process could not be started; ExecutorError stuck when it could not be killed */
export async function exec({ runtime, id, cgroup, name, user }: ExecTarget, request: ExecRequest): Promise<ExecResult> {
  const sub = cgroup && makeSubCgroup(cgroup, name);
  const log = openLog();
  try {
    const command = runtime.execCommand(id, {
      args: [request.cmd, ...(request.args ?? [])],
      env: Object.entries(request.env ?? {}).map(([key, value]) => `${key}=${value}`),
      ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
      ...(user === undefined ? {} : { user }),
      ...(sub ? { cgroups: [sub.flag] } : {}),
    });
    const child = execa(runtime.binary, command, {
      stdio: descriptors([request.input === undefined ? "ignore" : "pipe", "pipe", "pipe", log]),
      ...(request.input === undefined ? {} : { input: request.input }),
      reject: false,
      buffer: false,
      cwd: "/",
    });
    const rings = collect(child, request);
    let timedOut = false;
    let killed: Promise<boolean> | undefined;
    const timer =
      request.deadlineMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            killed = killAll(sub?.directory, child.pid);
          }, request.deadlineMs);
    // Nobody else has the streams when nothing of it is left: then all of the output is waited for.
    const status = await ended(child, () => sub !== undefined && processesIn([sub.directory]).length === 0);
    clearTimeout(timer);
    if (killed !== undefined && !(await killed)) {
      throw new ExecutorError("stuck", `exec ${name}: processes could not be killed`, { pids: sub ? processesIn([sub.directory]) : [] });
    }
    const line = lastLine(log);
    if (line !== "" && !timedOut) throw failure("exec", status, line, rings.stderr.bytes().toString(), "");
    return {
      exitCode: timedOut ? null : status,
      timedOut,
      output: rings.stdout.bytes(),
      outputBytes: rings.stdout.total,
      ...(request.separate ? { stderr: rings.stderr.bytes() } : {}),
    };
  } finally {
    closeSync(log);
    if (sub) await removeSubCgroup(sub);
  }
}

interface Streams {
  readonly stdout: NodeJS.ReadableStream | null;
  readonly stderr: NodeJS.ReadableStream | null;
}

function collect({ stdout, stderr }: Streams, { ringBytes = DEFAULT_RING, separate = false }: ExecRequest): { stdout: Ring; stderr: Ring } {
  const output = new Ring(ringBytes);
  const error = separate ? new Ring(ringBytes) : output;
  stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  stderr?.on("data", (chunk: Buffer) => error.push(chunk));
  return { stdout: output, stderr: error };
}

type Child = Streams & {
  readonly pid?: number | undefined;
  once(event: "exit", listener: (code: number | null) => void): unknown;
  once(event: "error", listener: (error: Error) => void): unknown;
};

/** Exit status of `runt exec`. Then its streams: a process that it left behind may have them open, and is not waited for. */
async function ended(child: Child, isAll: () => boolean): Promise<number> {
  const closed = [child.stdout, child.stderr].map((stream) => new Promise<void>((resolve) => stream?.once("close", resolve) ?? resolve()));
  const status = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => resolve(code ?? 137));
    child.once("error", reject);
  });
  let timer: NodeJS.Timeout | undefined;
  const all = Promise.all(closed);
  if (isAll()) await all;
  else await Promise.race([all, new Promise((resolve) => (timer = setTimeout(resolve, LINGER_MS)))]);
  clearTimeout(timer);
  for (const stream of [child.stdout, child.stderr]) (stream as { destroy?: () => void } | null)?.destroy?.();
  return status;
}

/** All that the exec has started. Its `runt`, which is no part of the container, ends with it. */
async function killAll(directory: string | undefined, pid: number | undefined): Promise<boolean> {
  if (directory === undefined || processesIn([directory]).length === 0) {
    // No cgroup to find them in, or it has not come that far.
    if (pid !== undefined) killDescendants(pid);
  }
  return directory === undefined || killCgroup(directory, KILL_BOUND_MS);
}
