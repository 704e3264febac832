/** Opens the database. A committed transaction survives a power failure, and no second process can open the file. */
import { chmodSync, existsSync } from "node:fs";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { backUp } from "./backup.ts";
import { databaseIn } from "./directory.ts";
import { isFull, isLocked, StoreError } from "./errors.ts";
import { Reserve } from "./reserve.ts";
import { faultsOf } from "./rows.ts";
import { FIRST_VERSION, migrate, mustBeKnown, SCHEMA_VERSION, versionOf } from "./schema.ts";

export interface OpenDatabase {
  readonly database: DatabaseSyncInstance;
  readonly path: string;
  /** Makes room on a full disk. */
  readonly reserve: Reserve;
}

export interface Migration {
  /** Path of the database. */
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /** Path of the copy made before the migration; undefined if nothing was changed. */
  readonly copy: string | undefined;
}

/**
 * @param directory absolute path of the state directory
 * @throws StoreError in-use, not-ours, newer-schema, unreadable; not-written: the migration, or the copy made before it, could not be written
 */
export function openDatabase(directory: string): OpenDatabase {
  const opened = openAs(directory);
  try {
    moveTo(opened, SCHEMA_VERSION);
  } catch (error) {
    closeDatabase(opened.database);
    throw error;
  }
  return opened;
}

/**
 * Converts the store of a stopped daemon to another version of the schema, for an older program. A copy of the old database is kept beside it.
 * @param to 1 or more, at most the version of this program
 * @throws StoreError in-use, not-ours, newer-schema, unreadable, not-written; unknown-schema: there is no such version, or no store
 */
export function migrateStore(directory: string, to: number): Migration {
  const opened = openAs(directory);
  try {
    if (versionOf(opened.database) === 0) throw new StoreError("unknown-schema", opened.path, "there is nothing to migrate");
    if (!Number.isInteger(to) || to < FIRST_VERSION || to > SCHEMA_VERSION)
      throw new StoreError(
        "unknown-schema",
        opened.path,
        `this program knows the versions ${FIRST_VERSION} to ${SCHEMA_VERSION}, not ${to}`,
      );
    return moveTo(opened, to);
  } finally {
    closeDatabase(opened.database);
  }
}

function openAs(directory: string): OpenDatabase {
  const path = databaseIn(directory);
  const reserve = new Reserve(`${path}.reserve`);
  const database = fileAt(path);
  try {
    // Must be set before the first access. In this mode the write-ahead log needs no shared memory, and the lock is held until the process ends.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA synchronous = FULL");
    // The first write takes the lock.
    database.exec("BEGIN IMMEDIATE; COMMIT");
    useLog({ database, reserve });
    mustBeKnown(versionOf(database), path);
    chmodSync(path, 0o600);
  } catch (error) {
    closeDatabase(database);
    if (error instanceof StoreError) throw error;
    if (isLocked(error)) throw new StoreError("in-use", path, "another daemon has this state directory", error);
    throw new StoreError("unreadable", path, (error as Error).message, error);
  }
  return { database, path, reserve };
}

/**
 * Lets the database have a write-ahead log, which is written in the file itself. On a full disk without a reserve it stays without one: it can be read, and each commit
 * shows whether there is room again. Returns false then.
 */
export function useLog({ database, reserve }: Pick<OpenDatabase, "database" | "reserve">): boolean {
  const isDone = () => {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return true;
    } catch (error) {
      if (!isFull(error)) throw error;
      return false;
    }
  };
  return isDone() || (reserve.release() && isDone());
}

function fileAt(path: string): DatabaseSyncInstance {
  const isThere = existsSync(path);
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new StoreError(isThere ? "unreadable" : "not-written", path, (error as Error).message, error);
  }
}

/** The copy is verified, and may contain the damaged rows of the original: the daemon moves those to the quarantine after it has opened the store. */
function moveTo({ database, path }: Pick<OpenDatabase, "database" | "path">, to: number): Migration {
  const from = versionOf(database);
  const copy = from === 0 || from === to ? undefined : `${path}.version-${from}`;
  if (copy !== undefined) backUp(database, copy, faultsOf(database));
  try {
    migrate(database, to);
  } catch (error) {
    throw new StoreError("not-written", path, `from version ${from} to ${to}: ${(error as Error).message}`, error);
  }
  return { path, from, to, copy };
}

/**
 * Closes the database and releases its lock. The library keeps prepared statements, and with them the lock, until they are garbage-collected, so that the lock is
 * released by leaving the exclusive locking mode first.
 */
export function closeDatabase(database: DatabaseSyncInstance): void {
  if (!database.isOpen) return;
  try {
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema");
  } catch {
    // The lock of a database that cannot be read or written protects nothing. The next process that opens it reports the error.
  }
  database.close();
}
