/** Verifies the contents of a database. */

import { createHash } from "node:crypto";
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
  const checks = database.prepare("PRAGMA quick_check").all() as { quick_check: string }[];
  const rows = database.prepare("SELECT kind, key, content, checksum FROM records").all() as unknown as Row[];
  return [
    ...checks.flatMap(({ quick_check: fault }) => (fault === "ok" ? [] : [fault])),
    ...rows.filter((row) => !isSound(row)).map(({ kind, key }) => `${kind} ${key}`),
  ];
}

// Checksums of rows, over key and content. They detect changed bits on the disk, which SQLite's
// integrity check does not.

/** Hexadecimal SHA-256. Each part is preceded by its length, so that moving text from one part to the next changes the sum. */
export function checksumOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest("hex");
}
