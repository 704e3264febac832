/** Files of this process' own making, in directories that others may write to: whatever has their name already is never opened. */
import * as host from "../host/index.ts";

export interface FreshFile {
  readonly path: string;
  /** Open for writing. While it is open no other file has its inode, so it cannot be mistaken. */
  readonly fd: number;
}

/** Attempts. Only the first name can be guessed; the later ones are random. */
const ATTEMPTS = 8;
const UNKNOWN = "/proc/sys/kernel/random/uuid";

/** A new file with this content at PATH.PID, or under a random name if that name is taken. @throws HostError */
export function writeBeside(path: string, content: string | ArrayBuffer): FreshFile {
  const { O } = host;
  for (let attempt = 1; ; attempt++) {
    const name = `${path}.${attempt === 1 ? host.getpid() : host.readFile(UNKNOWN, undefined, true).trimEnd()}`;
    try {
      const fd = host.open(name, O.WRONLY | O.CREAT | O.EXCL | O.NOFOLLOW, 0o600);
      return fill({ path: name, fd }, content);
    } catch (error) {
      if (!host.isErrno(error, "EEXIST") || attempt === ATTEMPTS) throw error;
      remove(name);
    }
  }
}

function fill(file: FreshFile, content: string | ArrayBuffer): FreshFile {
  try {
    host.write(file.fd, content);
    return file;
  } catch (error) {
    remove(file.path);
    host.close(file.fd);
    throw error;
  }
}

/** Removes a file of this name, from an earlier process with this pid or made by somebody else. A directory stays. */
function remove(path: string): void {
  try {
    host.unlink(path);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "EISDIR", "EPERM")) throw error;
  }
}

/** Whether `path` names this file. */
export function isAt(path: string, fd: number): boolean {
  const [named, held] = [host.lstat(path), host.fstat(fd)];
  return named?.ino === held.ino && named.dev === held.dev;
}
