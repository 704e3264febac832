import type { FileFacts, FileKind } from "../../check/index.ts";
import * as host from "../../host/index.ts";

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
