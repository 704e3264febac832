/** Opens the database. A committed transaction survives a power failure, and no second process can open the file. */
import { chmodSync, existsSync, lstatSync, type Stats } from "node:fs";
import { isAbsolute, join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { makeDirectories } from "../../executor/index.ts";
import { backUp } from "./backup.ts";
import { isFull, isLocked, StoreError } from "./errors.ts";
import { Reserve } from "./reserve.ts";
import { faultsOf } from "./rows.ts";

export interface OpenDatabase {
  readonly database: DatabaseSyncInstance;
  readonly path: string;
  /** Makes room on a full disk. */
  readonly reserve: Reserve;
}

export interface Migration {
  /** Path of the database. */
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /** Path of the copy made before the migration; undefined if nothing was changed. */
  readonly copy: string | undefined;
}

/**
 * @param directory absolute path of the state directory
 * @throws StoreError in-use, not-ours, newer-schema, unreadable; not-written: the migration, or the copy made before it, could not be written
 */
export function openDatabase(directory: string): OpenDatabase {
  const opened = openAs(directory);
  try {
    moveTo(opened, SCHEMA_VERSION);
  } catch (error) {
    closeDatabase(opened.database);
    throw error;
  }
  return opened;
}

/**
 * Converts the store of a stopped daemon to another version of the schema, for an older program. A copy of the old database is kept beside it.
 * @param to 1 or more, at most the version of this program
 * @throws StoreError in-use, not-ours, newer-schema, unreadable, not-written; unknown-schema: there is no such version, or no store
 */
export function migrateStore(directory: string, to: number): Migration {
  // A directory with a wrong name is not made.
  if (!existsSync(join(directory, NAME))) throw new StoreError("unknown-schema", join(directory, NAME), "there is nothing to migrate");
  const opened = openAs(directory);
  try {
    if (versionOf(opened.database) === 0) throw new StoreError("unknown-schema", opened.path, "there is nothing to migrate");
    if (!Number.isInteger(to) || to < FIRST_VERSION || to > SCHEMA_VERSION)
      throw new StoreError(
        "unknown-schema",
        opened.path,
        `this program knows the versions ${FIRST_VERSION} to ${SCHEMA_VERSION}, not ${to}`,
      );
    return moveTo(opened, to);
  } finally {
    closeDatabase(opened.database);
  }
}

function openAs(directory: string): OpenDatabase {
  const path = databaseIn(directory);
  const reserve = new Reserve(`${path}.reserve`);
  const database = fileAt(path);
  try {
    // Must be set before the first access. In this mode the write-ahead log needs no shared memory, and the lock is held until the process ends.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA synchronous = FULL");
    // The first write takes the lock.
    database.exec("BEGIN IMMEDIATE; COMMIT");
    useLog({ database, reserve });
    mustBeKnown(versionOf(database), path);
    chmodSync(path, 0o600);
  } catch (error) {
    closeDatabase(database);
    if (error instanceof StoreError) throw error;
    if (isLocked(error)) throw new StoreError("in-use", path, "another daemon has this state directory", error);
    throw new StoreError("unreadable", path, (error as Error).message, error);
  }
  return { database, path, reserve };
}

/**
 * Turns on the write-ahead log. The database file records this mode. Returns false if the disk is full and there is no reserve: the database then
 * works without a write-ahead log. It can be read, and each commit shows whether there is room again.
 */
export function useLog({ database, reserve }: Pick<OpenDatabase, "database" | "reserve">): boolean {
  const isDone = () => {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return true;
    } catch (error) {
      if (!isFull(error)) throw error;
      return false;
    }
  };
  return isDone() || (reserve.release() && isDone());
}

function fileAt(path: string): DatabaseSyncInstance {
  const isThere = existsSync(path);
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new StoreError(isThere ? "unreadable" : "not-written", path, (error as Error).message, error);
  }
}

/** The copy is verified, and may contain the damaged rows of the original: the daemon moves those to the quarantine after it has opened the store. */
function moveTo({ database, path }: Pick<OpenDatabase, "database" | "path">, to: number): Migration {
  const from = versionOf(database);
  const copy = from === 0 || from === to ? undefined : `${path}.version-${from}`;
  if (copy !== undefined) backUp(database, copy, faultsOf(database));
  try {
    migrate(database, to);
  } catch (error) {
    throw new StoreError("not-written", path, `from version ${from} to ${to}: ${(error as Error).message}`, error);
  }
  return { path, from, to, copy };
}

/**
 * Closes the database and releases its lock. The library keeps prepared statements, and with them the lock, until they are garbage-collected, so
 * that the lock is released by leaving the exclusive locking mode first.
 */
export function closeDatabase(database: DatabaseSyncInstance): void {
  if (!database.isOpen) return;
  try {
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema");
  } catch {
    // The lock of a database that cannot be read or written protects nothing. The next process that opens it reports the error.
  }
  database.close();
}

/**
 * Mode bits for writing by the group or by others. A state directory or database with one of them is refused, because another user could have
 * changed it.
 */
const OTHERS_MAY_WRITE = 0o022;

/** Of the database in the state directory. */
const NAME = "engine.db";

/**
 * Path of the database in `directory` (absolute; created with mode 0700 if missing).
 * @throws StoreError not-ours: the directory or the database belongs to another user, is writable for others, or is of the wrong type; not-written:
 * it cannot be made
 */
function databaseIn(directory: string): string {
  if (!isAbsolute(directory)) throw new StoreError("not-ours", directory, "the state directory is not absolute");
  // Links are refused, because their target could change between this check and the next use.
  mustBeOurs(directory, ensureDirectory(directory), (found) => found.isDirectory());
  const path = join(directory, NAME);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined) mustBeOurs(path, found, (stats) => stats.isFile());
  // SQLite follows links and would write to their targets.
  for (const log of [`${path}-wal`, `${path}-journal`, `${path}-shm`]) {
    const there = lstatSync(log, { throwIfNoEntry: false });
    if (there !== undefined) mustBeOurs(log, there, (stats) => stats.isFile());
  }
  return path;
}

function ensureDirectory(directory: string): Stats {
  try {
    const there = lstatSync(directory, { throwIfNoEntry: false });
    if (there !== undefined) return there;
    makeDirectories(directory, 0o700);
    return lstatSync(directory);
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    const where = path === undefined || path === directory ? "" : ` at ${path}`;
    throw new StoreError("not-written", directory, `the state directory cannot be made: ${code ?? message}${where}`, error);
  }
}

function mustBeOurs(path: string, found: Stats, isOfType: (found: Stats) => boolean): void {
  const uid = process.geteuid?.();
  if (!isOfType(found)) throw new StoreError("not-ours", path, "is not what is expected there");
  if (found.uid !== uid) throw new StoreError("not-ours", path, `belongs to uid ${found.uid}, and this is uid ${uid}`);
  if ((found.mode & OTHERS_MAY_WRITE) !== 0)
    throw new StoreError("not-ours", path, `others may write (mode ${(found.mode & 0o777).toString(8)})`);
}

/** A migration between two neighbouring versions of the tables, in both directions. */
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

const SCHEMA_VERSION = STEPS.length;
/** The oldest version to which a store can be migrated. */
const FIRST_VERSION = 1;

/** 0: there are no tables yet. */
function versionOf(database: DatabaseSyncInstance): number {
  return (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** @throws StoreError newer-schema */
function mustBeKnown(version: number, path: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new StoreError(
    "newer-schema",
    path,
    `its schema is version ${version}, and this program knows ${SCHEMA_VERSION}; the newer program leads back: runtd migrate --to ${SCHEMA_VERSION}`,
  );
}

/** Migrates the tables up or down in one transaction. @throws the errors of SQLite: then nothing was changed */
function migrate(database: DatabaseSyncInstance, to: number): void {
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
