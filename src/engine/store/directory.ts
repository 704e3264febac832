/** The state directory. It is created if missing, and refused if another user could have written its contents. */
import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { isAbsolute, join } from "node:path";
import { StoreError } from "./errors.ts";

const OTHERS_MAY_WRITE = 0o022;

/**
 * Path of the database in `directory` (absolute; created with mode 0700 if missing).
 * @throws StoreError not-ours: the directory or the database belongs to another user, is writable for others, or is of the wrong type
 */
export function databaseIn(directory: string): string {
  if (!isAbsolute(directory)) throw new StoreError("not-ours", directory, "the state directory is not absolute");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Links are refused, because their target could change between this check and the next use.
  mustBeOurs(directory, lstatSync(directory), (found) => found.isDirectory());
  const path = join(directory, "engine.db");
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined) mustBeOurs(path, found, (stats) => stats.isFile());
  return path;
}

function mustBeOurs(path: string, found: Stats, isOfType: (found: Stats) => boolean): void {
  const uid = process.geteuid?.();
  if (!isOfType(found)) throw new StoreError("not-ours", path, "is not what is expected there");
  if (found.uid !== uid) throw new StoreError("not-ours", path, `belongs to uid ${found.uid}, and this is uid ${uid}`);
  if ((found.mode & OTHERS_MAY_WRITE) !== 0)
    throw new StoreError("not-ours", path, `others may write (mode ${(found.mode & 0o777).toString(8)})`);
}
