/**
 * How an error reaches people and programs: one line on stderr, and exactly one line in --log (Podman reads that file as one
 * JSON value, containerd takes its last error line). What images and programs have put into it is escaped here, once. A success writes at most
 * what it warns of.
 */
import { messageLine, printableLines, RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import type { FlagValues } from "./parse.ts";
import { styleOf } from "./style.ts";
import { calledName } from "./version.ts";

const LOG_FLAGS = host.O.WRONLY | host.O.CREAT | host.O.APPEND;
const LOG_MODE = 0o644;

export interface Reporter {
  /** `hint` is shown to people only, behind the message. */
  error(error: unknown, hint?: string): void;
  /** A line of another level, to where errors are recorded; where that is nowhere `otherwise` is called, without it the line goes to stderr. */
  note(level: "warning" | "debug", message: string, otherwise?: () => void): void;
}

export function createReporter(global: FlagValues): Reporter {
  const { file, journal } = logTarget(global["log"]);
  const format = global["log-format"] ?? "text";
  if (format !== "text" && format !== "json") throw new RuntError("usage", `invalid log-format: ${String(format)} (use text or json)`);
  if (file !== undefined) checkLog(file);
  return {
    error(error, hint = details(error)) {
      const said = describeError(error);
      const message = messageLine(said);
      // JSON has its own escapes, and programs want the text as it was; what it leaves of the unsafe is not ASCII.
      const line = format === "json" ? printableLines(jsonLine(said, error)) : textLine(message);
      if (file !== undefined) record(`the log ${file}`, () => host.writeFile(file, line, LOG_FLAGS, LOG_MODE));
      if (journal !== undefined) {
        record(`to the journal as ${journal}`, () => writeToJournal(journal, format === "json" ? line : message));
      }
      const whole = hint === undefined ? message : `${message} (${messageLine(hint)})`;
      // As runc: without a log its stderr has the log's lines, with one it has the bare message.
      const isRunc = calledName() === "runc" && !host.isatty(2);
      if (file === undefined && format === "json") writeError(line);
      else if (!isRunc) writeError(`${errorLabel()} ${whole}\n`);
      else writeError(file === undefined && journal === undefined ? textLine(whole) : `${whole}\n`);
    },
    note(level, message, otherwise) {
      const said = messageLine(message);
      const line = format === "json" ? printableLines(`${JSON.stringify({ level, msg: message, time: now() })}\n`) : textLine(said, level);
      if (file !== undefined) record(`the log ${file}`, () => host.writeFile(file, line, LOG_FLAGS, LOG_MODE));
      else if (journal !== undefined) {
        const priority = level === "warning" ? 4 : 7;
        record(`to the journal as ${journal}`, () => writeToJournal(journal, said, priority));
      } else if (otherwise) record("to stderr", otherwise);
      else writeError(line);
    },
  };
}

/** --log is a path, also with crun's `file:` in front, or `journald:NAME`, which conmon-rs passes to a runtime called crun. */
function logTarget(given: FlagValues[string]): { readonly file?: string; readonly journal?: string } {
  if (typeof given !== "string" || given === "") return {};
  if (given.startsWith("journald:")) return { journal: given.slice("journald:".length) || "runt" };
  if (given.startsWith("syslog:")) throw new RuntError("usage", `--log ${given}: use a file or journald:NAME`);
  return { file: given.startsWith("file:") ? given.slice("file:".length) : given };
}

function describeError(error: unknown): string {
  if (error instanceof RuntError) return error.message;
  // The engine's null: not even an error could be made.
  if (error === null) return "out of memory";
  if (isExhaustion(error)) return `${error.message}: the limits of memory or stack are too low for this`;
  if (isSystemError(error)) return error.path === undefined ? error.message : `${error.syscall} ${error.path}: ${host.reason(error)}`;
  return `internal error: ${error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ""}`.trim().replaceAll("\n", "; ") : String(error)}`;
}

/** The engine was not given what it needs: "out of memory", "stack overflow". */
function isExhaustion(error: unknown): error is Error {
  return error instanceof Error && error.name === "InternalError";
}

/** Nothing to be expected where it happened, and yet no defect: a full table of open files, a broken disk. */
function isSystemError(error: unknown): error is host.HostError {
  return error instanceof Error && "errno" in error;
}

/** In brackets behind the message: what to do, or else which field is to blame. */
function details(error: unknown): string | undefined {
  if (!(error instanceof RuntError)) return undefined;
  const { hint, pointer } = error.details;
  return hint ?? (pointer !== undefined && pointer !== "" && !error.message.includes(pointer) ? `at ${pointer}` : undefined);
}

/** Engines read level, msg and time; code and pointer are for programs that want to know more. */
function jsonLine(msg: string, error: unknown): string {
  const {
    code,
    details: { pointer },
  } = error instanceof RuntError ? error : { code: isSystemError(error) ? "system" : "internal", details: { pointer: undefined } };
  return `${JSON.stringify({ level: "error", msg, time: now(), code, ...(pointer && { pointer }) })}\n`;
}

/** `message` has no control characters any more: its quotes and backslashes are all that is left to escape. */
function textLine(message: string, level = "error"): string {
  return `time=${JSON.stringify(now())} level=${level} msg=${JSON.stringify(message)}\n`;
}

/** RFC 3339, seconds, UTC. */
function now(): string {
  return `${new Date(host.now().seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** A log that cannot be written is told before anything is done. */
function checkLog(path: string): void {
  try {
    host.close(host.open(path, LOG_FLAGS, LOG_MODE));
  } catch (error) {
    throw new RuntError("usage", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
}

/** What cannot be recorded is still told on stderr, and changes nothing else. */
function record(where: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    writeError(`${errorLabel()} cannot write ${where}: ${host.reason(error)}\n`);
  }
}

function errorLabel(): string {
  return styleOf(2).error("runt:");
}

/** One write, so that a reader of the pipe gets it whole; a stderr that cannot be written changes nothing. */
function writeError(line: string): void {
  try {
    host.write(2, line);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
  }
}

/** Messages to systemd's journal go through the stream socket that systemd-cat(1) uses too. */
const JOURNAL = "/run/systemd/journal/stdout";
/** LOG_ERR of syslog(3). */
const PRIORITY_ERROR = 3;

/** One error, or what has another priority of syslog(3), of this identifier (`journalctl -t IDENTIFIER`). */
function writeToJournal(identifier: string, message: string, priority = PRIORITY_ERROR): void {
  const socket = host.connect(JOURNAL);
  try {
    // Identifier, unit, priority, whether lines have a level of their own, and whether to forward to syslog, kernel log and console.
    const header = [singleLine(identifier), "", priority, 0, 0, 0, 0].join("\n");
    host.write(socket, `${header}\n${singleLine(message)}\n`);
  } finally {
    host.close(socket);
  }
}

/** A line is a field of the header, or a message. */
function singleLine(text: string): string {
  return text.trim().replaceAll("\n", "; ");
}
