/** --output-log: what can be known to be wrong before anything is done. The log itself is the helper's (native-bindings/init/log_pump.c). */
import { LOG_FILES_MAX, LOG_SIZE_MIN } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

export interface OutputLog {
  readonly path: string;
  readonly size: number;
  readonly files: number;
}

/** On a full disk the log may become possible later: until then output is dropped and counted. */
const NO_ROOM = ["ENOSPC", "EDQUOT"] as const;

/** @throws RuntError usage */
export function checkOutputLog({ path, size, files }: OutputLog): void {
  if (!Number.isSafeInteger(size) || size < LOG_SIZE_MIN) throw refused(`--output-log-size ${size}`, `use ${LOG_SIZE_MIN} or more`);
  if (!Number.isInteger(files) || files < 1 || files > LOG_FILES_MAX)
    throw refused(`--output-log-files ${files}`, `use 1 to ${LOG_FILES_MAX}`);
  if (![1, 2].some(isPipe)) throw refused(`--output-log ${path}`, "neither stdout nor stderr is a pipe");
  const { O } = host;
  try {
    const fd = host.open(path, O.WRONLY | O.CREAT | O.NOFOLLOW | O.NONBLOCK | O.NOCTTY, 0o640);
    const { mode, nlink } = host.fstat(fd);
    host.close(fd);
    if ((mode & host.S.IFMT) !== host.S.IFREG) throw refused(`--output-log ${path}`, "no regular file");
    if (nlink !== 1) throw refused(`--output-log ${path}`, "it has another name, too");
  } catch (error) {
    if (error instanceof RuntError) throw error;
    if (!host.isErrno(error, ...NO_ROOM)) throw refused(`--output-log ${path}`, host.reason(error as host.HostError), error);
  }
}

function isPipe(fd: number): boolean {
  return (host.fstat(fd).mode & host.S.IFMT) === host.S.IFIFO;
}

function refused(what: string, reason: string, cause?: unknown): RuntError {
  return new RuntError("usage", `${what}: ${reason}`, cause === undefined ? {} : { cause });
}

interface OutputReaders {
  /** -1: it is no pipe, or cannot be read. */
  readonly stdout: number;
  /** Also -1 where it is the same pipe as stdout. */
  readonly stderr: number;
}

/**
 * Reading ends of the pipes that are stdout and stderr of a container with an exit record. Its caller
 * may be killed at any moment, also while the program runs already and the monitor is not there yet.
 * Without them the pipe would have no reader then: the first process of a container gets EPIPE and no
 * SIGPIPE, so that it goes on, and what it has printed is lost. Of this process' own streams. Where
 * one cannot be opened, the monitor tries it again.
 */
export function openOutputReaders(): OutputReaders {
  const [output, error] = [pipeAt(1), pipeAt(2)];
  const isSame = output?.ino === error?.ino && output?.dev === error?.dev;
  return { stdout: output === undefined ? -1 : readerOf(1), stderr: error === undefined || isSame ? -1 : readerOf(2) };
}

function pipeAt(fd: number): host.Stat | undefined {
  const found = host.fstat(fd);
  return (found.mode & host.S.IFMT) === host.S.IFIFO ? found : undefined;
}

function readerOf(fd: number): number {
  try {
    return host.open(`/proc/self/fd/${fd}`, host.O.RDONLY | host.O.NONBLOCK);
  } catch {
    return -1;
  }
}
