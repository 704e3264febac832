import type { FileFacts, FileKind } from "../../check/host/view.ts";
import type * as host from "../../host/index.ts";

/** The type bits of st_mode (inode(7)). */
const KINDS: Readonly<Record<number, FileKind>> = {
  1: "fifo",
  2: "char",
  4: "directory",
  6: "block",
  8: "file",
  10: "symlink",
  12: "socket",
};

export function fileFacts({ mode, uid, gid, rdevMajor, rdevMinor }: host.Stat): FileFacts {
  return { kind: KINDS[mode >> 12] ?? "file", mode: mode & 0o7777, uid, gid, major: rdevMajor, minor: rdevMinor };
}
