/** Files of this process' own making, in directories that others may write to: whatever has their name already is neither opened nor removed. */
import * as host from "../host/index.ts";
import { defenceDisabled } from "../testing/index.ts";

export interface FreshFile {
  readonly path: string;
  /** Open for writing. While it is open no other file has its inode, so it cannot be mistaken. */
  readonly fd: number;
}

/** What a new file is to be like. */
interface Making {
  /** Its permissions, from which the umask takes away; without it only its owner may read and write it. */
  readonly mode?: number;
  /** A number that no other process uses for the same purpose at this time; without it that is the pid of this process. */
  readonly number?: number;
}

/** Attempts. Only the first name can be guessed; the later ones are random. */
const ATTEMPTS = 8;
const UNKNOWN = "/proc/sys/kernel/random/uuid";

/** A new file with this content at PATH.NUMBER, or under a random name if that name is taken. @throws HostError */
export function writeBeside(path: string, content: string | ArrayBuffer, { mode = 0o600, number = host.getpid() }: Making = {}): FreshFile {
  const { O } = host;
  const flags = O.WRONLY | O.CREAT | (defenceDisabled("pid-file") ? 0 : O.EXCL | O.NOFOLLOW);
  for (let attempt = 1; ; attempt++) {
    const name = `${path}.${attempt === 1 ? number : host.readFile(UNKNOWN, undefined, true).trimEnd()}`;
    try {
      const fd = host.open(name, flags, mode);
      return fill({ path: name, fd }, content);
    } catch (error) {
      if (!host.isErrno(error, "EEXIST") || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Gives the name to a new file with this content. A reader sees what was there before, or the whole new file. @throws HostError */
export function replaceFile(path: string, content: string | ArrayBuffer, making?: Making): void {
  const file = writeBeside(path, content, making);
  try {
    host.rename(file.path, path);
  } catch (error) {
    remove(file);
    throw error;
  } finally {
    host.close(file.fd);
  }
}

function fill(file: FreshFile, content: string | ArrayBuffer): FreshFile {
  try {
    host.write(file.fd, content);
    return file;
  } catch (error) {
    remove(file);
    host.close(file.fd);
    throw error;
  }
}

/** Unless somebody has put another file in its place. The error that has led here is the one to tell, so this one has none. */
function remove({ path, fd }: FreshFile): void {
  try {
    if (isAt(path, fd)) host.unlink(path);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
  }
}

/** Whether `path` names this file. */
export function isAt(path: string, fd: number): boolean {
  const [named, held] = [host.lstat(path), host.fstat(fd)];
  return named?.ino === held.ino && named.dev === held.dev;
}
