/** What the library throws: a stable code, and the facts. */
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
  /** executor.json or the exit record in the executor's directory is damaged or gone. */
  | "state-unreadable"
  /** The state directory is a copy of the one in which the executor was made: its processes belong to that one. */
  | "state-moved"
  /** There is no such user or group in the container's passwd and group files. */
  | "user-unknown"
  /** The runtime refused; `cause` is its RuntimeError. A program that cannot be executed is a ProgramError. */
  | "launch-failed"
  /** A file of a box is not there, is no regular file, is behind a link, or is larger than allowed. */
  | "file-refused"
  /** More callers wait for a container of a pool than it lets wait, or the host has no ports left for the network of a box. */
  | "busy"
  /** An AbortSignal has aborted, and what it was for has been ended; `cause` is its reason. */
  | "aborted"
  /** Processes of the container could not be killed in time. It is tried again while a caller waits. */
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

export function aborted(what: string, { reason }: AbortSignal): ExecutorError {
  return new ExecutorError("aborted", `${what} was aborted`, {}, reason);
}

/** What `runt` has said about a call that failed. */
export class RuntimeError extends Error {
  override readonly name: string = "RuntimeError";
  /** Code of docs/troubleshooting.md; "unknown" when the program ended without a message; of a ProgramError "program-not-runnable". */
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

/**
 * Why a program could not be executed. not-found: there is none of this name, or PATH does not lead to it. interpreter-missing: it is there, but not
 * what its first line names, or the loader it was linked for. not-executable: no permission, a directory, a mount with noexec. wrong-format: neither
 * a script nor a program of this architecture.
 */
export type ProgramFailure = "not-found" | "interpreter-missing" | "not-executable" | "wrong-format";

/**
 * A program that is not there or cannot be executed: one error for the program of a container (launch; create, start and run of Runtime) and for a
 * further one (exec, spawn). Nothing of it has run.
 */
export class ProgramError extends RuntimeError {
  override readonly name: string = "ProgramError";
  declare readonly code: "program-not-runnable";
  readonly reason: ProgramFailure;
  /** As it was asked for, or the path that PATH has led to. */
  readonly program: string;
  /** What a shell would have said: 127, nothing was found; 126, it cannot be executed. */
  readonly shellStatus: 126 | 127;

  constructor(
    message: string,
    {
      reason,
      program,
      ...facts
    }: { reason: ProgramFailure; program: string; pointer?: string | undefined; verb: string; exitCode: number },
  ) {
    super(message, { ...facts, code: "program-not-runnable" });
    this.reason = reason;
    this.program = program;
    this.shellStatus = reason === "not-found" || reason === "interpreter-missing" ? 127 : 126;
  }
}

/** A ProgramError stays what it is: it is the same for launch and exec. */
export function launchError(error: unknown): unknown {
  if (!(error instanceof RuntimeError) || error instanceof ProgramError) return error;
  return new ExecutorError("launch-failed", error.message, { code: error.code, pointer: error.pointer }, error);
}

/** The error codes of `runt` (the field `code` of a line of its JSON log). A newer one may know more. */
export type RuntimeErrorCode =
  | "usage"
  | "unknown-command"
  | "config-read"
  | "config-syntax"
  | "config-schema"
  | "config-invalid"
  | "not-supported"
  | "id-invalid"
  | "id-exists"
  | "id-unknown"
  | "state-unreadable"
  | "state-version"
  | "state-moved"
  | "state-foreign"
  | "state-root"
  | "wrong-status"
  | "cgroup"
  | "resctrl"
  | "criu"
  | "hook"
  | "operation"
  | "program-not-runnable"
  | "host-facts"
  | "plan-changed"
  | "internal"
  | "unknown"
  | (string & {});

/** Errors of the runtime that say that its own state of a container is lost. */
export const LOST_STATE: readonly RuntimeErrorCode[] = ["id-unknown", "state-unreadable", "state-moved", "state-foreign"];
