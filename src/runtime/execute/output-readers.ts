/**
 * Reading ends of the pipes that are stdout and stderr of a container with an exit record. Its caller may be killed at any moment, also while the program
 * runs already and the monitor is not there yet. Without them the pipe would have no reader then: the first process of a container gets EPIPE and no
 * SIGPIPE, so that it goes on, and what it has printed is lost.
 */
import * as host from "../host/index.ts";

export interface OutputReaders {
  /** -1: it is no pipe, or cannot be read. */
  readonly stdout: number;
  /** Also -1 where it is the same pipe as stdout. */
  readonly stderr: number;
}

/** Of this process' own streams. Where one cannot be opened, the monitor tries it again. */
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
