/** Copies the database, and verifies the copy by reading it. */
import { chmodSync } from "node:fs";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { placeAtomically, removeOwnFile } from "../../node/index.ts";
import { StoreError } from "./errors.ts";
import { faultsOf } from "./rows.ts";

/**
 * Copies the database to `target`. An existing copy is replaced only after the new one is verified and synced to disk.
 * @param known faults of the database itself, which its copy may have too (rows.ts, faultsOf)
 * @throws StoreError not-written: the disk is full, or the copy differs from what was written
 */
export function backUp(database: DatabaseSyncInstance, target: string, known: readonly string[] = []): void {
  const temporary = `${target}.new`;
  try {
    removeOwnFile(temporary);
    database.prepare("VACUUM INTO ?").run(temporary);
    chmodSync(temporary, 0o600);
    verify(temporary, known);
    placeAtomically(temporary, target, "file-and-directory");
  } catch (error) {
    removeIgnoringErrors(temporary);
    throw error instanceof StoreError ? error : new StoreError("not-written", target, (error as Error).message, error);
  }
}

/** An error is not reported here: its cause also makes the next copy fail, which is reported. */
function removeIgnoringErrors(path: string): void {
  try {
    removeOwnFile(path);
  } catch {}
}

function verify(path: string, known: readonly string[]): void {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const faults = faultsOf(copy).filter((fault) => !known.includes(fault));
    if (faults.length > 0) throw new StoreError("not-written", path, `the copy is damaged: ${faults.join(", ")}`);
  } finally {
    copy.close();
  }
}
