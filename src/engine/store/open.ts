/** The database file, opened so that a transaction which has returned survives a power cut, and so that no second process can open it. */
import { chmodSync } from "node:fs";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { databaseIn } from "./directory.ts";
import { isLocked, StoreError } from "./errors.ts";
import { migrate } from "./schema.ts";

export interface OpenDatabase {
  readonly database: DatabaseSyncInstance;
  readonly path: string;
}

/**
 * @param directory absolute path of the state directory
 * @throws StoreError in-use, not-ours, newer-schema, unreadable
 */
export function openDatabase(directory: string): OpenDatabase {
  const path = databaseIn(directory);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Before the first access: with this mode the write-ahead log needs no shared memory, and the lock stays until the process ends.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
    // The lock is taken by the first write.
    database.exec("BEGIN IMMEDIATE; COMMIT");
    migrate(database, path);
    chmodSync(path, 0o600);
  } catch (error) {
    closeDatabase(database);
    if (error instanceof StoreError) throw error;
    if (isLocked(error)) throw new StoreError("in-use", path, "another daemon has this state directory", error);
    throw new StoreError("unreadable", path, (error as Error).message, error);
  }
  return { database, path };
}

/**
 * Close it, and let another process open it. The library keeps prepared statements, and with them the lock, until they are collected: the lock is given
 * up by leaving the mode that holds it.
 */
export function closeDatabase(database: DatabaseSyncInstance): void {
  if (!database.isOpen) return;
  try {
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema");
  } catch {
    // What cannot be read or written holds no lock worth keeping: the next one to open it says what is wrong.
  }
  database.close();
}
