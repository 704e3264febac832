/** The tables, and the migrations between neighbouring versions in both directions. */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { StoreError } from "./errors.ts";

interface Step {
  readonly up: string;
  /** The migration back, for an older program. Data that the older version does not have is lost. */
  readonly down: string;
}

/** Step N leads from version N to N + 1. A released step must not be changed. */
const STEPS: readonly Step[] = [
  {
    up: `CREATE TABLE records (
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
    down: "DROP TABLE records; DROP TABLE journal; DROP TABLE quarantine;",
  },
  {
    // The time of writing, by which old entries are dropped. The age of existing entries starts with the migration.
    up: `ALTER TABLE journal ADD COLUMN wall_ms INTEGER NOT NULL DEFAULT 0;
     UPDATE journal SET wall_ms = CAST(unixepoch('subsec') * 1000 AS INTEGER);`,
    down: "ALTER TABLE journal DROP COLUMN wall_ms;",
  },
];

export const SCHEMA_VERSION = STEPS.length;
/** The oldest version to which a store can be migrated. */
export const FIRST_VERSION = 1;

/** 0: there are no tables yet. */
export function versionOf(database: DatabaseSyncInstance): number {
  return (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** @throws StoreError newer-schema */
export function mustBeKnown(version: number, path: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new StoreError(
    "newer-schema",
    path,
    `its schema is version ${version}, and this program knows ${SCHEMA_VERSION}; the newer program leads back: runtd migrate --to ${SCHEMA_VERSION}`,
  );
}

/** Migrates the tables up or down in one transaction. @throws the errors of SQLite: then nothing was changed */
export function migrate(database: DatabaseSyncInstance, to: number): void {
  const from = versionOf(database);
  if (from === to) return;
  const steps =
    from < to
      ? STEPS.slice(from, to).map(({ up }) => up)
      : STEPS.slice(to, from)
          .map(({ down }) => down)
          .reverse();
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const step of steps) database.exec(step);
    database.exec(`PRAGMA user_version = ${to}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
