import { chmodSync, chownSync, statSync } from "node:fs";

/** Owner and mode of a directory. */
export function copyAttributes(from: string, to: string): void {
  const { uid, gid, mode } = statSync(from);
  chownSync(to, uid, gid);
  chmodSync(to, mode & 0o7777);
}
