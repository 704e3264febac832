/** What is asked of a further process in the container, and how it ended. */
import type { Readable, Writable } from "node:stream";
import { ExecutorError } from "../errors.ts";
import type { TerminalSize } from "../launch/command.ts";
import { checkSize } from "../launch/size.ts";
import { checkShape, KIND } from "../shape.ts";

/** What every further process has. */
export interface ProgramRequest {
  /** Looked for in the container, along the container's PATH when it has no slash. */
  readonly cmd: string;
  readonly args?: readonly string[];
  /** Added to the container's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** "uid", "uid:gid", or names of the container's passwd and group files. Default: that of the container. */
  readonly user?: string;
  /** Milliseconds from the start; then everything that it has started is killed, and `timedOut` is true. Default: none. */
  readonly deadlineMs?: number;
  /** When it aborts, everything that it has started is killed, and the promise is rejected: ExecutorError aborted, `cause` is the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A process whose output is collected. */
export interface ExecRequest extends ProgramRequest {
  /** How many of the last bytes of each stream are kept: 0 to 64 MiB. Default: 4096. */
  readonly ringBytes?: number;
  /** Keep stderr apart instead of joining it with stdout. */
  readonly separate?: boolean;
  /** Text for stdin, which ends after it. Default: stdin is empty. */
  readonly input?: string;
}

/** A stream of a spawned process that is a file: absolute paths. */
export type FileStdio =
  | "null"
  /** ExecHandle.stdin, stdout or stderr is the other end. */
  | "pipe"
  /** A file of the host, that is appended to (stdin: read). It is made if absent. */
  | { readonly file: string };

export type OutputStdio =
  | FileStdio
  /** A FIFO of the host that exists. The process waits when it is full. A reader may come later, and may leave. What is unread at the end is lost. */
  | { readonly fifo: string };

/** Of a stream of Node, what is read or written. It is the caller's: it is neither ended nor destroyed. */
export interface SpawnStdio {
  /** Default: "null". The end of a Readable ends the process' stdin. */
  readonly stdin?: FileStdio | Readable;
  /** Default: "pipe", also with `pty`. */
  readonly stdout?: OutputStdio | Writable;
  /** Default: "pipe". With `pty` there is none: a terminal has one output. */
  readonly stderr?: OutputStdio | Writable;
}

/** A process whose streams are the caller's. */
export interface SpawnRequest extends ProgramRequest {
  readonly stdio?: SpawnStdio;
  /** A terminal of its own, which stdin is typed into and stdout is shown on; without a size it has 0 rows. */
  readonly pty?: boolean | TerminalSize;
}

/** How it ended. */
export interface ExecEnd {
  /** 128 + signal when a signal ended it; null: the deadline did. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
}

export interface ExecResult extends ExecEnd {
  /** The last bytes: of stdout, and of stderr unless that is separate. */
  readonly output: Buffer;
  /** With `separate`. */
  readonly stderr?: Buffer;
  /** Bytes that were printed in all. */
  readonly outputBytes: number;
}

const PROGRAM = {
  cmd: KIND.text,
  args: KIND.texts,
  env: KIND.textsByName,
  cwd: KIND.text,
  user: KIND.text,
  deadlineMs: KIND.number,
  signal: KIND.object,
} as const satisfies Readonly<Record<keyof ProgramRequest, unknown>>;

const EXEC = { ...PROGRAM, ringBytes: KIND.number, separate: KIND.flag, input: KIND.text } as const satisfies Readonly<
  Record<keyof ExecRequest, unknown>
>;

const SPAWN = { ...PROGRAM, stdio: KIND.object, pty: KIND.objectOrFlag } as const satisfies Readonly<Record<keyof SpawnRequest, unknown>>;

export const DEFAULT_RING = 4096;
const HIGHEST_RING = 64 << 20;

function refuse(field: string, reason: string): never {
  throw new ExecutorError("invalid-argument", `${field}: ${reason}`, { field });
}

function checkProgram({ cmd, args = [], env = {}, deadlineMs }: ProgramRequest): void {
  if (cmd === "") refuse("cmd", "is empty");
  for (const text of [cmd, ...args, ...Object.values(env)]) if (text.includes("\0")) refuse("cmd, args and env", "hold a NUL");
  if (deadlineMs !== undefined && !(deadlineMs > 0 && Number.isFinite(deadlineMs))) refuse("deadlineMs", `${deadlineMs} is no time`);
  for (const name of Object.keys(env)) if (name === "" || name.includes("=")) refuse("env", `bad name ${JSON.stringify(name)}`);
}

/** @throws ExecutorError invalid-argument */
export function checkExec(request: ExecRequest): void {
  checkShape("exec", request, EXEC, ["cmd"]);
  const { ringBytes = DEFAULT_RING } = request;
  checkProgram(request);
  if (!Number.isInteger(ringBytes) || ringBytes < 0 || ringBytes > HIGHEST_RING)
    refuse("ringBytes", `${ringBytes} is not between 0 and ${HIGHEST_RING}`);
}

/** @throws ExecutorError invalid-argument */
export function checkSpawn(request: SpawnRequest): void {
  checkShape("spawn", request, SPAWN, ["cmd"]);
  checkProgram(request);
  if (request.pty && request.stdio?.stderr !== undefined) refuse("stdio.stderr", "a terminal has one output, which is stdout");
  if (typeof request.pty === "object") checkSize("pty", request.pty);
}
