/** The state directory. It is created if missing, and refused if another user could have written its contents. */
import { lstatSync, type Stats } from "node:fs";
import { isAbsolute, join } from "node:path";
import { makeDirectories } from "../../executor/index.ts";
import { StoreError } from "./errors.ts";

const OTHERS_MAY_WRITE = 0o022;

/**
 * Path of the database in `directory` (absolute; created with mode 0700 if missing).
 * @throws StoreError not-ours: the directory or the database belongs to another user, is writable for others, or is of the wrong type; not-written: it cannot be made
 */
export function databaseIn(directory: string): string {
  if (!isAbsolute(directory)) throw new StoreError("not-ours", directory, "the state directory is not absolute");
  // Links are refused, because their target could change between this check and the next use.
  mustBeOurs(directory, made(directory), (found) => found.isDirectory());
  const path = join(directory, "engine.db");
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined) mustBeOurs(path, found, (stats) => stats.isFile());
  // SQLite follows links, and writes into what they lead to.
  for (const log of [`${path}-wal`, `${path}-journal`, `${path}-shm`]) {
    const there = lstatSync(log, { throwIfNoEntry: false });
    if (there !== undefined) mustBeOurs(log, there, (stats) => stats.isFile());
  }
  return path;
}

function made(directory: string): Stats {
  try {
    const there = lstatSync(directory, { throwIfNoEntry: false });
    if (there !== undefined) return there;
    makeDirectories(directory, 0o700);
    return lstatSync(directory);
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    const where = path === undefined || path === directory ? "" : ` at ${path}`;
    throw new StoreError("not-written", directory, `the state directory cannot be made: ${code ?? message}${where}`, error);
  }
}

function mustBeOurs(path: string, found: Stats, isOfType: (found: Stats) => boolean): void {
  const uid = process.geteuid?.();
  if (!isOfType(found)) throw new StoreError("not-ours", path, "is not what is expected there");
  if (found.uid !== uid) throw new StoreError("not-ours", path, `belongs to uid ${found.uid}, and this is uid ${uid}`);
  if ((found.mode & OTHERS_MAY_WRITE) !== 0)
    throw new StoreError("not-ours", path, `others may write (mode ${(found.mode & 0o777).toString(8)})`);
}
