/** Verifies the contents of a database. */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { checksumOf } from "./checksum.ts";

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
