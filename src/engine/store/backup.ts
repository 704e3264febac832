/** A copy of the database that was read again and found whole, beside it. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { StoreError } from "./errors.ts";
import { faultsOf } from "./rows.ts";

/**
 * Copy it to `target`, in whose place the copy comes only when it is whole and on the disk: the one that was there before stays until then.
 * @throws StoreError not-written: the disk is full, or the copy is not what was written
 */
export function backUp(database: DatabaseSyncInstance, target: string): void {
  const temporary = `${target}.new`;
  try {
    rmSync(temporary, { force: true });
    database.prepare("VACUUM INTO ?").run(temporary);
    verify(temporary);
    syncFile(temporary);
    renameSync(temporary, target);
    syncFile(dirname(target));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error instanceof StoreError ? error : new StoreError("not-written", target, (error as Error).message, error);
  }
}

function verify(path: string): void {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const faults = faultsOf(copy);
    if (faults.length > 0) throw new StoreError("not-written", path, `the copy is damaged: ${faults.join(", ")}`);
  } finally {
    copy.close();
  }
}

function syncFile(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
