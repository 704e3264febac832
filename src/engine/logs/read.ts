/** Reads a log from its beginning or near its end, while it is being written and rotated. */
import { LineReader } from "./lines.ts";
import { firstOf, placeIn, placeText } from "./place.ts";
import { type LogRecord, note, parseRecord, recordTime } from "./record.ts";
import { closeSegments, newerThan, openSegments, type Segment } from "./segments.ts";
import { startOfLast } from "./tail.ts";

export interface ReadOptions {
  /** Only this many lines from the end. */
  readonly tail?: number | undefined;
  /** Only records of this time or later, in the format of LogRecord.time. */
  readonly since?: string | undefined;
  /** LogRecord.next of the last record that was read. `tail` is ignored then. */
  readonly from?: string | undefined;
  /** Absent: reading ends at the current end of the log. */
  readonly follow?: Following | undefined;
}

export interface Following {
  /** Whether nothing more will be written. */
  isOver(): boolean;
  /** Resolves when there may be new records. */
  changed(): Promise<void>;
}

/**
 * Yields records in batches, in the order of the files. Buffers about 64 KiB, even if the caller is
 * slow. If files were rotated away before they were read, a record of the stream runt says so.
 * @param path of the log, which need not exist yet
 */
export async function* readLog(
  path: string,
  { tail, since = "", from, follow }: ReadOptions,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const log = new OpenLog(path, { tail, from }, follow !== undefined);
  try {
    for (;;) {
      // This is asked before reading, so that everything written before the end is read.
      const isOver = follow?.isOver() ?? true;
      for (let records = log.next(); records.length > 0; records = log.next()) {
        const wanted = records.filter(({ time }) => time >= since);
        if (wanted.length > 0) yield wanted;
      }
      if (isOver) return;
      await follow?.changed();
    }
  } finally {
    log.close();
  }
}

class OpenLog {
  readonly #path: string;
  readonly #grows: boolean;
  /** The segment being read, followed by the newer ones. */
  #segments: Segment[];
  #reader: LineReader | undefined;
  /** Result of `firstOf` for the segment being read. */
  #first = "";
  #isGap = false;
  /** Whether the segment in which reading should continue is gone. */
  #isLost: boolean;

  constructor(path: string, { tail, from }: Pick<ReadOptions, "tail" | "from">, grows: boolean) {
    this.#path = path;
    this.#grows = grows;
    this.#segments = openSegments(path);
    const start = from === undefined ? startOfLast(this.#segments, tail) : placeIn(this.#segments, from);
    this.#isLost = start === undefined;
    const { segment, offset } = start ?? { segment: 0, offset: 0 };
    closeSegments(this.#segments.splice(0, segment));
    this.#begin(offset);
  }

  close(): void {
    closeSegments(this.#segments.splice(0));
  }

  /** Empty if there is nothing more at the moment. */
  next(): LogRecord[] {
    for (;;) {
      if (this.#isLost) return [this.#tellGap()];
      if (this.#reader === undefined && !this.#open()) return [];
      const records = this.#records();
      if (records.length > 0) return records;
      // The pump finishes a file before it renames it. If there is a newer file this one is complete, and its rest is read first.
      if (this.#segments.length === 1 && !this.#findNewer()) return [];
      const rest = this.#records();
      if (rest.length > 0) return rest;
      closeSegments(this.#segments.splice(0, 1));
      this.#begin(0);
      if (this.#isGap) return [this.#tellGap()];
    }
  }

  #records(): LogRecord[] {
    const [segment] = this.#segments;
    const lines = this.#reader!.next();
    if (lines.length === 0) return [];
    this.#first ||= firstOf(segment!);
    let offset = this.#reader!.offset - lines.reduce((bytes, line) => bytes + line.length + 1, 0);
    return lines.map((line) => {
      offset += line.length + 1;
      return { ...parseRecord(line), next: placeText(segment!, offset, this.#first) };
    });
  }

  #open(): boolean {
    this.#segments = openSegments(this.#path);
    this.#begin(0);
    return this.#reader !== undefined;
  }

  #begin(offset: number): void {
    const [current] = this.#segments;
    this.#reader = current && new LineReader(current.fd, offset);
    this.#first = "";
  }

  #findNewer(): boolean {
    if (!this.#grows) return false;
    const { segments, isGap } = newerThan(this.#path, this.#segments[0]!);
    this.#segments.push(...segments);
    this.#isGap = isGap && segments.length > 0;
    return segments.length > 0;
  }

  #tellGap(): LogRecord {
    this.#isGap = false;
    this.#isLost = false;
    return note(recordTime(Date.now()), "lines were rotated away before they were read");
  }
}
