/** Copies the database, and verifies the copy by reading it. */
import { chmodSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { placeAtomically, placeAtomicallyLater, removeOwnFile } from "../../node/index.ts";
import { StoreError } from "./errors.ts";
import { faultsLater, faultsOf } from "./rows.ts";

/**
 * Copies the database to `target`. An existing copy is replaced only after the new one is verified and synced to disk.
 * @param known faults of the database itself, which its copy may have too (rows.ts, faultsOf)
 * @throws StoreError not-written: the disk is full, or the copy differs from what was written
 */
export function backUp(database: DatabaseSyncInstance, target: string, known: readonly string[] = []): void {
  const temporary = `${target}.new`;
  try {
    copyTo(database, temporary);
    const copy = openCopy(temporary);
    try {
      mustBeSound(
        temporary,
        faultsOf(copy).filter((fault) => !known.includes(fault)),
      );
    } finally {
      copy.close();
    }
    placeAtomically(temporary, target, "file-and-directory");
  } catch (error) {
    throw failed(temporary, target, error);
  }
}

/**
 * The same, in slices. The database has an exclusive lock, so that only this connection can copy it: this is one slice. The copy is read, and synced to the disk, while other
 * work goes on. @param check called before the copy gets its name; what it throws keeps the old one
 */
export async function backUpLater(database: DatabaseSyncInstance, target: string, check: () => void): Promise<void> {
  const temporary = `${target}.new`;
  try {
    copyTo(database, temporary);
    await setImmediate();
    const copy = openCopy(temporary);
    try {
      mustBeSound(temporary, await faultsLater(copy));
    } finally {
      copy.close();
    }
    await placeAtomicallyLater(temporary, target, "file-and-directory", check);
  } catch (error) {
    throw failed(temporary, target, error);
  }
}

function copyTo(database: DatabaseSyncInstance, temporary: string): void {
  removeOwnFile(temporary);
  database.prepare("VACUUM INTO ?").run(temporary);
  chmodSync(temporary, 0o600);
}

function openCopy(path: string): DatabaseSyncInstance {
  return new DatabaseSync(path, { readOnly: true });
}

function mustBeSound(path: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new StoreError("not-written", path, `the copy is damaged: ${faults.join(", ")}`);
}

/** Removes what there is of the copy. */
function failed(temporary: string, target: string, error: unknown): StoreError {
  try {
    removeOwnFile(temporary);
  } catch {
    // Its cause also makes the next copy fail, which is reported.
  }
  return error instanceof StoreError ? error : new StoreError("not-written", target, (error as Error).message, error);
}
