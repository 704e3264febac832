/** Makes a copy of the database beside it, and verifies the copy by reading it again. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { StoreError } from "./errors.ts";
import { faultsOf } from "./rows.ts";

/**
 * Copy it to `target`, in whose place the copy comes only when it is whole and on the disk: the one that was there before stays until then.
 * `known`: what is wrong with the database already, and may be wrong with its copy (rows.ts, faultsOf).
 * @throws StoreError not-written: the disk is full, or the copy is not what was written
 */
export function backUp(database: DatabaseSyncInstance, target: string, known: readonly string[] = []): void {
  const temporary = `${target}.new`;
  try {
    rmSync(temporary, { force: true });
    database.prepare("VACUUM INTO ?").run(temporary);
    chmodSync(temporary, 0o600);
    verify(temporary, known);
    syncFile(temporary);
    renameSync(temporary, target);
    syncFile(dirname(target));
  } catch (error) {
    removed(temporary);
    throw error instanceof StoreError ? error : new StoreError("not-written", target, (error as Error).message, error);
  }
}

/** A failure is not reported here: what prevents the removal also makes the next copy fail, and that is reported. */
function removed(path: string): void {
  try {
    rmSync(path, { force: true });
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

function syncFile(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
