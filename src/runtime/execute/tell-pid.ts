/** The operations that tell others of the container's process. */
import * as host from "../host/index.ts";
import { defenceDisabled } from "../testing/index.ts";

export function sendPidfd(pid: number, path: string, text: string): void {
  const pidfd = host.pidfdOpen(pid);
  host.sendDescriptor(path, text, pidfd);
  host.close(pidfd);
}

/** Temp file and rename, so that a reader never sees half a number; no newline (go-runc parses strictly). */
export function writePidFile(path: string, pid: number): void {
  const slash = path.lastIndexOf("/") + 1;
  const temporary = `${path.slice(0, slash)}.${path.slice(slash)}`;
  const flags = host.O.WRONLY | host.O.CREAT | (defenceDisabled("pid-file") ? 0 : host.O.EXCL | host.O.NOFOLLOW);
  for (let isFirst = true; ; isFirst = false) {
    try {
      host.writeFile(temporary, String(pid), flags, 0o666);
      host.rename(temporary, path);
      return;
    } catch (error) {
      host.unlink(temporary);
      // A runtime that was killed here has left it.
      if (!isFirst || !host.isErrno(error, "EEXIST")) throw error;
    }
  }
}
