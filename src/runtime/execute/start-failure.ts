/** What init left in exec.fifo when it could not become the program (report_to_start in native-bindings/init/main.c). */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";

export interface StartFailure {
  readonly errno: number;
  /** The program, for execve(2). */
  readonly path: string;
  readonly text: string;
}

const REPORT_MAX = 4096;
/** What start has written. */
export const GO = "\0";

/**
 * Read the content of the fifo, by the descriptor `writer`, which has kept it alive and is closed. undefined: nothing has failed.
 * @throws RuntError wrong-status when init was killed before it took what start has written
 */
export function readStartFailure(writer: number): StartFailure | undefined {
  const reader = host.open(`/proc/self/fd/${writer}`, host.O.RDONLY | host.O.NONBLOCK);
  // Without a writer the end is the end of the file.
  host.close(writer);
  try {
    const report = host.readFd(reader, REPORT_MAX);
    if (report === GO) throw new RuntError("wrong-status", WORDS.startStopped);
    return parseStartFailure(report);
  } catch (error) {
    // init holds its end still: a file system is in the way of execve, and nothing has failed yet.
    if (host.isErrno(error, "EAGAIN")) return undefined;
    throw error;
  } finally {
    host.close(reader);
  }
}

/** errno, path and text, a line each; the text may have more lines. */
export function parseStartFailure(report: string): StartFailure | undefined {
  if (report === "") return undefined;
  const [errno = "", path = "", ...text] = report.split("\n");
  return { errno: Number(errno), path, text: text.join("\n") };
}
