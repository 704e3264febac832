/** The store of one engine, which keeps records and the journal on disk. Contents are JSON of the caller. */
import { lstatSync } from "node:fs";
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { backUpLater } from "./backup.ts";
import { isFull, StoreError } from "./errors.ts";
import { Journal, type JournalPage } from "./journal.ts";
import { closeDatabase, openDatabase, useLog } from "./open.ts";
import type { Reserve } from "./reserve.ts";
import { checksumOf, isSound, type Row } from "./rows.ts";

/** task, service, revision, pool: records of the model. host: facts about the daemon. succeeded: a one-shot task that has succeeded and is not run again. */
export type RecordKind = "task" | "host" | "succeeded" | "service" | "revision" | "pool";

export interface StoredRecord {
  readonly kind: RecordKind;
  readonly key: string;
  /** JSON. */
  readonly content: string;
}

export interface Change {
  readonly put?: readonly StoredRecord[];
  readonly remove?: readonly Pick<StoredRecord, "kind" | "key">[];
  /** One JSON text for each event, in order. */
  readonly events?: readonly string[];
}

export interface Contents {
  readonly records: readonly StoredRecord[];
  /** Rows with a wrong checksum, and those that the caller cannot use. They were moved to the quarantine table; all other rows are kept. */
  readonly damaged: readonly Pick<StoredRecord, "kind" | "key">[];
}

export interface StoreOptions {
  /** Absolute path; created if missing. */
  readonly directory: string;
  /** At least this many of the newest events are kept, unless they are older than `journalAgeMs`. Default: 10,000. */
  readonly journalKept?: number;
  /** Milliseconds after which events are dropped. Default: seven days. */
  readonly journalAgeMs?: number;
}

const JOURNAL_KEPT = 10_000;
const JOURNAL_AGE_MS = 7 * 24 * 3_600_000;

export class Store {
  readonly path: string;
  readonly #database: DatabaseSyncInstance;
  readonly #journal: Journal;
  readonly #reserve: Reserve;
  /** Identities (`fileIdentity`) of the database file and of its write-ahead log. The latter is empty until the log exists. */
  readonly #file: string;
  #logFile = "";
  #hasLog: boolean;
  #backingUp: Promise<void> | undefined;

  /**
   * Migrates a store of an older version, after copying it to `path`.version-N.
   * @throws StoreError in-use, not-ours, newer-schema, unreadable, not-written
   */
  constructor({ directory, journalKept = JOURNAL_KEPT, journalAgeMs = JOURNAL_AGE_MS }: StoreOptions) {
    const { database, path, reserve } = openDatabase(directory);
    this.#database = database;
    this.path = path;
    this.#file = fileIdentity(path);
    this.#reserve = reserve;
    this.#hasLog = useLog({ database, reserve });
    this.#journal = new Journal(database, { count: journalKept, ageMs: journalAgeMs });
    this.#reserve.keep();
  }

  /**
   * Reads all records. Rows that are damaged or that `isUsable` rejects are moved to the quarantine table. On a full disk they stay until a later
   * call.
   * @throws StoreError unreadable
   */
  load(isUsable: (record: StoredRecord) => boolean = () => true): Contents {
    const rows = this.#guarded(
      "unreadable",
      () => this.#database.prepare("SELECT kind, key, content, checksum FROM records ORDER BY kind, key").all() as unknown as Row[],
    );
    const recordOf = ({ kind, key, content }: Row) => ({ kind: kind as RecordKind, key, content });
    const isKept = (row: Row) => isSound(row) && isUsable(recordOf(row));
    const [kept, damaged] = [rows.filter(isKept), rows.filter((row) => !isKept(row))];
    if (damaged.length > 0) {
      this.#unlessFull(() => {
        const keep = this.#database.prepare("INSERT INTO quarantine (kind, key, content, checksum) VALUES (?, ?, ?, ?)");
        const drop = this.#database.prepare("DELETE FROM records WHERE kind = ? AND key = ?");
        for (const { kind, key, content, checksum } of damaged) {
          keep.run(kind, key, content, checksum);
          drop.run(kind, key);
        }
      });
    }
    return {
      records: kept.map(recordOf),
      damaged: damaged.map(({ kind, key }) => ({ kind: kind as RecordKind, key })),
    };
  }

  /**
   * Stores the whole change and syncs it to disk. Returns the sequence numbers of the events.
   * @throws StoreError not-written: nothing was stored
   */
  commit(change: Change): readonly number[] {
    try {
      return this.#commit(change);
    } catch (error) {
      // On a full disk the reserve is released, and the commit is tried once more.
      if (!(error instanceof StoreError && isFull(error.cause) && this.#reserve.release())) throw error;
      return this.#commit(change);
    }
  }

  /**
   * Makes the reserve again if the disk has space for it. Also turns on the write-ahead log if the disk was too full for it when the database was
   * opened.
   */
  keepReserve(): void {
    if (this.#reserve.keep() && !this.#hasLog) this.#hasLog = useLog({ database: this.#database, reserve: this.#reserve });
  }

  /** Why nothing can be stored any more; undefined: the files are still in place. */
  get loss(): string | undefined {
    const isThere = fileIdentity(this.path) === this.#file && (this.#logFile === "" || fileIdentity(this.#logPath) === this.#logFile);
    return isThere ? undefined : "the store was deleted or replaced while this daemon uses it: only a new start helps";
  }

  #mustBeThere(): void {
    const { loss } = this;
    if (loss !== undefined) throw new Error(loss);
  }

  get #logPath(): string {
    return `${this.path}-wal`;
  }

  /**
   * Makes and verifies a copy at `path`.backup. Also drops old events, and makes the reserve again if it was released. A call while a copy is being
   * made joins it.
   * @throws StoreError not-written
   */
  backUp(): Promise<void> {
    this.#backingUp ??= this.#backUp().finally(() => {
      this.#backingUp = undefined;
    });
    return this.#backingUp;
  }

  async #backUp(): Promise<void> {
    this.keepReserve();
    this.#transaction(() => this.#journal.dropOld());
    // A store that has taken its place meanwhile has a backup of its own.
    await backUpLater(this.#database, `${this.path}.backup`, () => this.#mustBeThere());
  }

  #commit({ put = [], remove = [], events = [] }: Change): readonly number[] {
    const sequences = this.#transaction(() => {
      const write = this.#database.prepare(
        "INSERT INTO records (kind, key, content, checksum) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content, checksum = excluded.checksum",
      );
      const drop = this.#database.prepare("DELETE FROM records WHERE kind = ? AND key = ?");
      for (const { kind, key } of remove) drop.run(kind, key);
      for (const { kind, key, content } of put) write.run(kind, key, content, checksumOf(kind, key, content));
      return this.#journal.append(events);
    });
    this.#journal.committed(sequences);
    return sequences;
  }

  /** The last sequence number; 0: there was no event yet. */
  get lastSequence(): number {
    return this.#journal.last;
  }

  /** At most `limit` events with a sequence number above `after`, ascending. */
  events(after: number, limit: number): JournalPage {
    return this.#guarded("unreadable", () => this.#journal.read(after, limit));
  }

  /** Closes the database, which then consists of one file. Another process may open it. */
  close(): void {
    // After a loss the paths may name files of another store, so the mode of the database is not changed.
    if (this.loss === undefined) closeDatabase(this.#database);
    else if (this.#database.isOpen) this.#database.close();
  }

  /** Runs a transaction whose effect may wait: on a full disk nothing happens, and that is no error. */
  #unlessFull(action: () => void): void {
    try {
      this.#transaction(action);
    } catch (error) {
      if (!(error instanceof StoreError && isFull(error.cause))) throw error;
    }
  }

  #transaction<T>(action: () => T): T {
    return this.#guarded("not-written", () => {
      // SQLite would go on writing to the deleted file, whose content is lost when this process ends.
      this.#mustBeThere();
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        const result = action();
        this.#database.exec("COMMIT");
        if (this.#hasLog) this.#logFile ||= fileIdentity(this.#logPath);
        return result;
      } catch (error) {
        // After some errors, such as a full disk, SQLite has rolled back by itself.
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  #guarded<T>(code: "not-written" | "unreadable", action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw new StoreError(code, this.path, (error as Error).message, error);
    }
  }
}

/** "DEVICE:INODE"; empty: there is no such file. */
function fileIdentity(path: string): string {
  try {
    const { dev, ino } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return "";
  }
}
