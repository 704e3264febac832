/**
 * The journal of events. Each has a sequence number, which is never given twice. The journal is bounded by number and age of entries; the oldest
 * are dropped.
 */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { checksumOf } from "./rows.ts";

export interface JournalEntry {
  readonly sequence: number;
  /** JSON. */
  readonly content: string;
}

/** Entries that follow a sequence number. */
export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** Whether entries after the requested number were dropped or are damaged. */
  readonly gap: boolean;
}

export interface JournalBounds {
  /** Minimum number of entries that are kept, if they are young enough. */
  readonly count: number;
  /** Maximum age in milliseconds of the wall clock. */
  readonly ageMs: number;
}

interface Row {
  readonly sequence: number;
  readonly content: string;
  readonly checksum: string;
}

const NAME = "journal";
/** Number of entries by which the journal may exceed its bound, so that not every commit has to drop entries. */
const SLACK = 256;

export class Journal {
  readonly #database: DatabaseSyncInstance;
  readonly #bounds: JournalBounds;
  #last: number;

  constructor(database: DatabaseSyncInstance, bounds: JournalBounds) {
    this.#database = database;
    this.#bounds = bounds;
    const row = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").get() as { seq: number } | undefined;
    this.#last = row?.seq ?? 0;
  }

  /** The last number that was assigned; 0: none. */
  get last(): number {
    return this.#last;
  }

  /** Must be called in a transaction; the caller calls `committed` after it. Returns the numbers, in order. */
  append(contents: readonly string[]): number[] {
    const insert = this.#database.prepare("INSERT INTO journal (sequence, content, checksum, wall_ms) VALUES (?, ?, ?, ?)");
    const sequences = contents.map((content, index) => {
      const sequence = this.#last + 1 + index;
      insert.run(sequence, content, checksumOf(NAME, String(sequence), content), Date.now());
      return sequence;
    });
    const last = sequences.at(-1);
    if (last !== undefined && last % SLACK < contents.length) this.#drop(last);
    return sequences;
  }

  /** Drops entries beyond the bounds. Must be called in a transaction. */
  dropOld(): void {
    this.#drop(this.#last);
  }

  /** Drops entries from the beginning up to the first young one, so that a changed clock makes no gap in the middle. */
  #drop(last: number): void {
    const { count, ageMs } = this.#bounds;
    const young = this.#database
      .prepare("SELECT sequence FROM journal WHERE wall_ms >= ? ORDER BY sequence LIMIT 1")
      .get(Date.now() - ageMs) as Pick<Row, "sequence"> | undefined;
    const before = Math.max(last - count, (young?.sequence ?? last + 1) - 1);
    this.#database.prepare("DELETE FROM journal WHERE sequence <= ?").run(before);
  }

  committed(sequences: readonly number[]): void {
    this.#last = sequences.at(-1) ?? this.#last;
  }

  /** At most `limit` entries with numbers above `after`, ascending. */
  read(after: number, limit: number): JournalPage {
    const rows = this.#database
      .prepare("SELECT sequence, content, checksum FROM journal WHERE sequence > ? ORDER BY sequence LIMIT ?")
      .all(after, limit) as unknown as Row[];
    const sound = rows.filter(({ sequence, content, checksum }) => checksum === checksumOf(NAME, String(sequence), content));
    const expected = Math.min(limit, Math.max(0, this.#last - after));
    const isWhole = sound.length === expected && (sound[0]?.sequence ?? after + 1) === after + 1;
    return { entries: sound.map(({ sequence, content }) => ({ sequence, content })), gap: !isWhole };
  }
}
