import { lstatSync } from "node:fs";
import { giveOwnDirectory } from "../own/index.ts";

/** Gives a directory the owner and mode of another one. */
export function copyAttributes(from: string, to: string): void {
  const { uid, gid, mode } = lstatSync(from);
  giveOwnDirectory(to, { mode: mode & 0o7777, owner: { uid, gid } });
}
