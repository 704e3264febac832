/** The journal of events: each has a sequence number that is never given twice. It is bounded by count and by age; older numbers are gone. */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { checksumOf } from "./checksum.ts";

export interface JournalEntry {
  readonly sequence: number;
  /** JSON. */
  readonly content: string;
}

/** Entries after a sequence number, and whether some of them are missing at the beginning. */
export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** Whether entries after the requested number were dropped or are damaged. */
  readonly gap: boolean;
}

export interface JournalBounds {
  /** Minimum number of entries that are kept, if they are young enough. */
  readonly count: number;
  /** Milliseconds of the wall clock. */
  readonly ageMs: number;
}

interface Row {
  readonly sequence: number;
  readonly content: string;
  readonly checksum: string;
}

const NAME = "journal";
/** How far the journal may exceed its bound before old entries are dropped, so that this does not happen at each commit. */
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

  /** The last number that was assigned; 0: none yet. */
  get last(): number {
    return this.#last;
  }

  /** Within a transaction of the caller's, who calls `committed` after it. Returns the numbers, in order. */
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

  /** Drops what is beyond the bounds, within a transaction of the caller. */
  dropOld(): void {
    this.#drop(this.#last);
  }

  /** Drops only from the beginning up to the first young entry, so a clock that was set makes no gap. */
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

  /** At most `limit` entries with a number above `after`, ascending. */
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
