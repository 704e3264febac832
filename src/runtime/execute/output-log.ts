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
