/** Verifies the contents of a database. */

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { DatabaseSyncInstance } from "@photostructure/sqlite";

export interface Row {
  readonly kind: string;
  readonly key: string;
  readonly content: string;
  readonly checksum: string;
}

export function isSound({ kind, key, content, checksum }: Row): boolean {
  return checksum === checksumOf(kind, key, content);
}

/** Describes what is wrong; empty if the structure is intact and every record matches its checksum. */
export function faultsOf(database: DatabaseSyncInstance): string[] {
  const rows = database.prepare("SELECT kind, key, content, checksum FROM records").all() as unknown as Row[];
  return [...structureFaultsOf(database), ...rows.flatMap(faultOf)];
}

/** So many records are read at once. The largest, a version of a service with a thousand replicas, has megabytes. */
const ROWS_AT_ONCE = 16;

/** As faultsOf, in slices. Nobody else may write to the database meanwhile. */
export async function faultsLater(database: DatabaseSyncInstance): Promise<string[]> {
  const faults = structureFaultsOf(database);
  const next = database.prepare(
    `SELECT kind, key, content, checksum FROM records WHERE (kind, key) > (?, ?) ORDER BY kind, key LIMIT ${ROWS_AT_ONCE}`,
  );
  let last = { kind: "", key: "" };
  for (;;) {
    await setImmediate();
    const rows = next.all(last.kind, last.key) as unknown as Row[];
    faults.push(...rows.flatMap(faultOf));
    if (rows.length < ROWS_AT_ONCE) return faults;
    last = rows.at(-1)!;
  }
}

function structureFaultsOf(database: DatabaseSyncInstance): string[] {
  const checks = database.prepare("PRAGMA quick_check").all() as { quick_check: string }[];
  return checks.flatMap(({ quick_check: fault }) => (fault === "ok" ? [] : [fault]));
}

function faultOf(row: Row): string[] {
  return isSound(row) ? [] : [`${row.kind} ${row.key}`];
}

// Checksums of rows, over key and content. They detect changed bits on the disk, which SQLite's
// integrity check does not.

/** Hexadecimal SHA-256. Each part is preceded by its length, so that moving text from one part to the next changes the sum. */
export function checksumOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest("hex");
}
