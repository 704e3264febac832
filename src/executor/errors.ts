/** What the library throws: a stable code, and the facts. */
import type { RuntimeErrorCode } from "./runtime/codes.ts";

export type ExecutorErrorCode =
  /** An id, a signal, a limit, a stdio setting or another argument cannot be. Nothing has been done. */
  | "invalid-argument"
  /** There is an executor of this id in this state directory, or there is none. */
  | "id-exists"
  | "id-unknown"
  /** The state of the executor does not allow this. */
  | "wrong-state"
  /** No `runt` was found, or it is of another version. */
  | "runtime-not-found"
  | "runtime-version"
  /** The executor was made by a newer version of this library. */
  | "protocol"
  /** There is no such program in the container, or it cannot be executed. As a shell says 127 and 126. */
  | "program-not-found"
  | "program-not-executable"
  /** There is no such user or group in the container's passwd and group files. */
  | "user-unknown"
  /** The runtime refused; `cause` is its RuntimeError. */
  | "launch-failed"
  /** Processes of the container could not be killed in time. It is tried again as long as somebody waits. */
  | "stuck";

/** An error of the executor. */
export class ExecutorError extends Error {
  override readonly name = "ExecutorError";
  readonly code: ExecutorErrorCode;
  /** Facts by name: what was tried, what is allowed. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ExecutorErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

/** What `runt` has said about a call that failed. */
export class RuntimeError extends Error {
  override readonly name = "RuntimeError";
  /** Code of docs/troubleshooting.md; "unknown" when the program ended without a word. */
  readonly code: RuntimeErrorCode;
  /** JSON pointer into config.json, when the error is about it. */
  readonly pointer: string | undefined;
  /** The verb, and its exit status (128 + signal when it was killed). */
  readonly verb: string;
  readonly exitCode: number;

  constructor(message: string, facts: { code: RuntimeErrorCode; pointer?: string | undefined; verb: string; exitCode: number }) {
    super(message);
    this.code = facts.code;
    this.pointer = facts.pointer;
    this.verb = facts.verb;
    this.exitCode = facts.exitCode;
  }
}
