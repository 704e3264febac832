import { lstatSync } from "node:fs";
import { giveOwnDirectory } from "../own/index.ts";

/** Owner and mode of a directory. */
export function copyAttributes(from: string, to: string): void {
  const { uid, gid, mode } = lstatSync(from);
  giveOwnDirectory(to, { mode: mode & 0o7777, owner: { uid, gid } });
}
