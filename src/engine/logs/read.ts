/** Reads a log from its beginning or near its end, also while it is written and rotated. */
import { LineReader } from "./lines.ts";
import { firstOf, placeIn, placeText } from "./place.ts";
import { type LogRecord, note, parseRecord, recordTime } from "./record.ts";
import { closeSegments, newerThan, openSegments, type Segment } from "./segments.ts";
import { startOfLast } from "./tail.ts";

export interface ReadOptions {
  /** The last lines only. */
  readonly tail?: number | undefined;
  /** Records of this time and later; a time as records have it. */
  readonly since?: string | undefined;
  /** LogRecord.next of the last record that was read; `tail` does not count then. */
  readonly from?: string | undefined;
  /** Absent: it ends where the log ends now. */
  readonly follow?: Following | undefined;
}

export interface Following {
  /** Whether nothing will be written any more. */
  isOver(): boolean;
  /** Resolves when there may be something new. */
  changed(): Promise<void>;
}

/**
 * Yields records in batches, in the order of the files. It holds about 64 KiB, however slow the caller is. A record of runt reports what was rotated away meanwhile.
 * @param path of a log that may not be there yet
 */
export async function* readLog(
  path: string,
  { tail, since = "", from, follow }: ReadOptions,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const log = new OpenLog(path, { tail, from }, follow !== undefined);
  try {
    for (;;) {
      // Ask before reading: then everything that was written before the end is read.
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
  /** The segment that is being read, and those after it. */
  #segments: Segment[];
  #reader: LineReader | undefined;
  /** Of the segment that is read. */
  #first = "";
  #isGap = false;
  /** Whether the segment at which reading should continue is gone. */
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

  /** Empty when there is nothing more at the moment. */
  next(): LogRecord[] {
    for (;;) {
      if (this.#isLost) return [this.#tellGap()];
      if (this.#reader === undefined && !this.#open()) return [];
      const records = this.#records();
      if (records.length > 0) return records;
      // The pump ends with a file before it renames it: what is in there by now is all of it, and is read before the next one.
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
