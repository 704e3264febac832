/** Runs programs such as skopeo and umoci, and turns their failures into short errors. */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM_MS, type ProgramOptions, packageOf, runProgram } from "../../node/index.ts";
import { ImageError } from "./errors.ts";

/** Maximum number of characters of a message of a task. Names in an image may be much longer. */
const LONGEST_REASON = 1000;

/**
 * Without `timeoutMs` the limit is two minutes, or none if there is a `signal`. Returns stdout.
 * @throws ImageError program-missing, pull-failed; the reason of `signal`
 */
export async function runTool(program: string, args: readonly string[], options: Partial<ProgramOptions> = {}): Promise<Buffer> {
  const { signal, env, timeoutMs = signal === undefined ? PROGRAM_MS : Number.POSITIVE_INFINITY } = options;
  signal?.throwIfAborted();
  const end = await runProgram(program, args, { ...options, timeoutMs, ...(env && { env: { ...process.env, ...env } }) });
  signal?.throwIfAborted();
  const { stdout, stderr, failure, message, error } = end;
  if (failure === undefined) return stdout;
  if (error?.code === "ENOENT") throw missingError(program, error);
  const reason = reasonIn(stderr);
  throw new ImageError("pull-failed", `${message}${reason === "" ? "" : `: ${reason}`}`, { cause: error });
}

export interface Progress {
  readonly signal: AbortSignal;
  /** Milliseconds in which the program has to read or write something. */
  readonly stalledMs: number;
  /** The error when it does not. */
  readonly late: () => ImageError;
}

const LOOK_MS = 5_000;

/**
 * Runs a program for as long as it reads and writes, files and connections alike. @param run runs it with these options
 * @throws what `late` returns; the reason of `signal`; what `run` throws
 */
export async function withProgress<T>(
  run: (options: Pick<ProgramOptions, "signal" | "onStarted">) => Promise<T>,
  { signal, stalledMs, late }: Progress,
): Promise<T> {
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  let pid: number | undefined;
  let before: string | undefined;
  let since = performance.now();
  const timer = setInterval(
    () => {
      const now = pid === undefined ? undefined : transferredBy(pid);
      if (now !== before) since = performance.now();
      else if (performance.now() - since >= stalledMs) ending.abort(late());
      before = now;
    },
    Math.min(LOOK_MS, stalledMs / 4),
  );
  try {
    return await run({
      signal: ending.signal,
      onStarted: (started) => {
        pid = started;
      },
    });
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", end);
  }
}

/** Bytes that a process has read and written (proc_pid_io(5)). undefined: it has ended. */
function transferredBy(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/io`, "latin1")
      .match(/^[rw]char: \d+$/gm)
      ?.join();
  } catch {
    return undefined;
  }
}

/** For a program that is started by a shell, where a missing program would look like an error of the shell. @throws ImageError program-missing */
export function assertInstalled(program: string): void {
  const directories = (process.env["PATH"] ?? "").split(":");
  if (!directories.some((directory) => isExecutable(join(directory, program)))) throw missingError(program);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function missingError(program: string, cause?: Error): ImageError {
  return new ImageError("program-missing", `${program} is not installed: apt-get install ${packageOf(program)}`, { cause });
}

/**
 * Finds the message of a failure in standard error. skopeo and umoci log lines of key=value; the last fatal line has the reason. Control characters
 * are removed, because they could be commands for a terminal.
 */
export function reasonIn(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const last = lines.findLast((line) => /level=(?:fatal|error)|⨯|^umount: |^mount: /.test(line)) ?? lines.at(-1) ?? "";
  const message = /msg="((?:[^"\\]|\\.)*)"/.exec(last)?.[1]?.replaceAll('\\"', '"') ?? last.trim();
  return message.replace(/\p{Cc}/gu, " ").slice(0, LONGEST_REASON);
}
