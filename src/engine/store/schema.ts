/** Tables, and the way from each version of them to the next. */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { StoreError } from "./errors.ts";

/** Step N leads from version N to N + 1. A step that has been released is never changed. */
const STEPS: readonly string[] = [
  `CREATE TABLE records (
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     content TEXT NOT NULL,
     checksum TEXT NOT NULL,
     PRIMARY KEY (kind, key)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE journal (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT,
     content TEXT NOT NULL,
     checksum TEXT NOT NULL
   ) STRICT;
   CREATE TABLE quarantine (
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     content TEXT NOT NULL,
     checksum TEXT NOT NULL
   ) STRICT;`,
];

export const SCHEMA_VERSION = STEPS.length;

/** Bring the tables to this program's version, in one transaction. @throws StoreError newer-schema */
export function migrate(database: DatabaseSyncInstance, path: string): void {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version > SCHEMA_VERSION) {
    throw new StoreError("newer-schema", path, `its schema is version ${version}, and this program knows ${SCHEMA_VERSION}`);
  }
  if (version === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const step of STEPS.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
