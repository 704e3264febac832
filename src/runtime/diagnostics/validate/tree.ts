/** Files below one directory, which nothing leads out of: the root file system is hostile. */
import type { FileFacts, FileKind, Tree } from "../../check/index.ts";
import * as host from "../../host/index.ts";

/** Directories with more than this many bytes are not listed. */
const DIRECTORY_MAX = 1 << 20;
const EMPTY = new ArrayBuffer(0);

/** undefined: it is not a directory, or may not be opened. The descriptor ends with the process. */
export function treeBelow(directory: string): Tree | undefined {
  let root: number;
  try {
    root = host.open(directory, host.O.PATH | host.O.DIRECTORY);
  } catch {
    return undefined;
  }
  /** undefined: it is not there, or may not be looked at. */
  function withFile<T>(path: string, flags: number, action: (fd: number) => T): T | undefined {
    let fd: number | undefined;
    try {
      fd = host.openInRoot(root, path, flags);
      return action(fd);
    } catch {
      return undefined;
    } finally {
      if (fd !== undefined) host.close(fd);
    }
  }
  const itself = host.O.PATH | host.O.NOFOLLOW;
  // The same few directories are on the way of most paths.
  const seen = new Map<string, FileFacts | undefined>();
  const writable = new Map<string, boolean>();
  return {
    look(path): FileFacts | undefined {
      const known = seen.get(path);
      if (known !== undefined || seen.has(path)) return known;
      const facts = withFile(path, itself, (fd) => fileFacts(host.fstat(fd)));
      seen.set(path, facts);
      return facts;
    },
    link(path) {
      const slash = path.lastIndexOf("/");
      // readlink(2) does not follow the last name, and what is before it was resolved inside.
      return withFile(path.slice(0, slash) || "/", host.O.PATH | host.O.DIRECTORY, (fd) =>
        host.readlink(`/proc/self/fd/${fd}/${path.slice(slash + 1)}`),
      );
    },
    names: (path) =>
      withFile(path, host.O.PATH | host.O.DIRECTORY, (fd) =>
        host.fstat(fd).size > DIRECTORY_MAX ? [] : host.readdir(`/proc/self/fd/${fd}`),
      ) ?? [],
    read(path, offset, length) {
      const regular = withFile(path, itself, (fd) => fileFacts(host.fstat(fd)).kind === "file") === true;
      if (!regular) return EMPTY;
      // What has become a fifo or a device meanwhile neither blocks nor becomes a terminal.
      const flags = host.O.RDONLY | host.O.NOFOLLOW | host.O.NONBLOCK | host.O.NOCTTY;
      return withFile(path, flags, (fd) => host.pread(fd, offset, length)) ?? EMPTY;
    },
    isWritable(path) {
      const known = writable.get(path);
      if (known !== undefined) return known;
      const answer = withFile(path, host.O.PATH, (fd) => host.access(`/proc/self/fd/${fd}`, host.ACCESS.WRITE)) === true;
      writable.set(path, answer);
      return answer;
    },
  };
}

/** The type bits of st_mode (inode(7)). */
const KINDS: Readonly<Record<number, FileKind>> = {
  [host.S.IFIFO]: "fifo",
  [host.S.IFCHR]: "char",
  [host.S.IFDIR]: "directory",
  [host.S.IFBLK]: "block",
  [host.S.IFREG]: "file",
  [host.S.IFLNK]: "symlink",
  [host.S.IFSOCK]: "socket",
};

export function fileFacts({ mode, uid, gid, rdevMajor, rdevMinor }: host.Stat): FileFacts {
  return { kind: KINDS[mode & host.S.IFMT] ?? "file", mode: mode & 0o7777, uid, gid, major: rdevMajor, minor: rdevMinor };
}
