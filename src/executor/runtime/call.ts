/** One call of `runt`: its output, or the error that its JSON log tells. */
import { closeSync, constants, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram, type Stream } from "../../node/index.ts";
import { ProgramError, type ProgramFailure, RuntimeError } from "../errors.ts";

export interface Call {
  readonly binary: string;
  /** Global flags, without --log. */
  readonly global: readonly string[];
  readonly verb: string;
  readonly args: readonly string[];
  /** Text for stdin; undefined = none. */
  readonly input?: string;
  /** Descriptors that become stdio; undefined = stdin empty, stdout and stderr collected. */
  readonly stdio?: readonly [Stream, Stream, Stream];
  /** Kills it. */
  readonly abort?: AbortSignal | undefined;
  /** Exit statuses that are an answer and no failure. */
  readonly expected?: readonly number[];
}

export interface Answer {
  readonly stdout: string;
  readonly exitCode: number;
}

/** runt bounds each of its waits. It ends what it has started, and hands signals on. */
export const BOUNDS = { timeoutMs: Number.POSITIVE_INFINITY, mostOutput: 64 << 20, isAlone: true } as const;

/** Descriptor 3 is its log. */
export const LOG_FLAGS = ["--log", "/proc/self/fd/3", "--log-format", "json"];

/** @throws RuntimeError; ProgramError, when it is about the program */
export async function call({ binary, global, verb, args, input, stdio, abort, expected = [0] }: Call): Promise<Answer> {
  const log = openLog();
  try {
    const command = [...global, ...LOG_FLAGS, verb, ...args];
    const result = await runProgram(binary, command, { ...BOUNDS, stdio, input, signal: abort, descriptors: [log] });
    const exitCode = result.exitCode ?? 128 + (result.signal === undefined ? 0 : 1);
    if (result.exitCode !== undefined && expected.includes(result.exitCode)) return { stdout: result.stdout.toString(), exitCode };
    throw failure(verb, exitCode, lastLine(log), result.stderr, result.message);
  } finally {
    closeSync(log);
  }
}

/** O_TMPFILE without its O_DIRECTORY, whose number is the architecture's; Node does not name it. */
const TMPFILE = 0o20000000;

/** A file without a name: nothing of it is left, however this process ends. */
export function openLog(): number {
  try {
    return openSync(tmpdir(), constants.O_RDWR | constants.O_DIRECTORY | TMPFILE, 0o600);
  } catch {
    // Not every file system has it: one that is unlinked at once, then.
    const directory = mkdtempSync(join(tmpdir(), "runt-log-"));
    try {
      return openSync(join(directory, "log"), "w+", 0o600);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }
}

/** The last line of the log, "" when there is none: runt writes on failure only. */
export function lastLine(log: number): string {
  const bytes = Buffer.alloc(fstatSync(log).size);
  const length = readSync(log, bytes, 0, bytes.length, 0);
  return bytes.toString("utf8", 0, length).trim().split("\n").at(-1) ?? "";
}

/** The error of a line of the log; without one, of what there is. */
export function failure(verb: string, exitCode: number, line: string, stderr: string, short: string): RuntimeError {
  const logged = parse(line);
  if (logged === undefined) {
    return new RuntimeError(`runt ${verb}: ${stderr.trim() || short || `exit status ${exitCode}`}`, { code: "unknown", verb, exitCode });
  }
  const { msg: message, code = "unknown", pointer } = logged;
  const program = programFacts({ code, message, verb, ...(pointer === undefined ? {} : { pointer }) });
  if (program !== undefined) return new ProgramError(message, { ...program, pointer, verb, exitCode });
  return new RuntimeError(message, { code, pointer, verb, exitCode });
}

function parse(line: string): { msg: string; code?: string; pointer?: string } | undefined {
  try {
    const value = JSON.parse(line);
    return typeof value?.msg === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Which errors of `runt` are about a program that cannot be executed. Its words are those of runc, which engines match on (src/runtime/errors/catalogue.ts). */
interface ProgramFacts {
  readonly reason: ProgramFailure;
  readonly program: string;
}

/** `exec: "NAME": …` is said when the program was looked for, `exec PATH: …` when execve(2) refused the one that was found. */
const FORM = /\bexec(?:: "(?<name>.*?)"| (?<path>\/.*?)): (?<words>.*)$/s;
/** In characters: a path has 4,095 at most, and the words behind it are few. */
const LONGEST_MESSAGE = 16_384;
const NOTHING_THERE = /executable file not found in \$PATH|no such file or directory|not a directory|too many levels of symbolic links/;

/** undefined: it is about something else. `pointer`: into config.json; `start` and `exec` have none of their own. */
function programFacts({
  code,
  message,
  pointer,
  verb,
}: {
  code: string;
  message: string;
  pointer?: string;
  verb: string;
}): ProgramFacts | undefined {
  if (code !== "operation" || !(pointer?.startsWith("/process/args") || verb === "start")) return undefined;
  // An image may name a program of any length. The expression looks for an end behind each beginning.
  const { name, path = "", words = "" } = FORM.exec(message.slice(0, LONGEST_MESSAGE))?.groups ?? {};
  const program = name ?? path;
  if (program === "") return undefined;
  // What execve does not find is not the program.
  if (NOTHING_THERE.test(words)) return { reason: name === undefined ? "interpreter-missing" : "not-found", program };
  if (/^(permission denied|is a directory)/.test(words)) return { reason: "not-executable", program };
  if (words.startsWith("exec format error")) return { reason: "wrong-format", program };
  return undefined;
}
