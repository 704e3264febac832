import * as host from "../../host/index.ts";
import { containerDirectory } from "../../state/index.ts";

/** The lock of ROOT/ID if nobody has it; undefined: a verb is at work on this id, or the directory has just gone or been made anew. */
export function tryLock(root: string, id: string): number | undefined {
  const directory = containerDirectory(root, id);
  let fd: number;
  try {
    fd = host.open(directory, host.O.RDONLY | host.O.DIRECTORY | host.O.NOFOLLOW);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
  if (host.flock(fd, host.LOCK.EX | host.LOCK.NB) && host.lstat(directory)?.ino === host.fstat(fd).ino) return fd;
  host.close(fd);
  return undefined;
}
