/** What is in a log, from its beginning or near its end on, also while it is written and rotated. */
import { LineReader } from "./lines.ts";
import { type LogRecord, note, parseRecord, recordTime } from "./record.ts";
import { closeSegments, newerThan, openSegments, type Segment } from "./segments.ts";
import { startOfLast } from "./tail.ts";

export interface ReadOptions {
  /** The last lines only. */
  readonly tail?: number | undefined;
  /** Records of this time and later; a time as records have it. */
  readonly since?: string | undefined;
  /** Absent: it ends where the log ends now. */
  readonly follow?: Following | undefined;
}

export interface Following {
  /** Nothing will be written any more. */
  isOver(): boolean;
  /** Settles when it is worth while to look again. */
  changed(): Promise<void>;
}

/**
 * Records, some at a time, in the order of the files. About 64 KiB are held, however slowly they are taken; what is rotated away meanwhile is told.
 * @param path of a log that may not be there yet
 */
export async function* readLog(
  path: string,
  { tail, since = "", follow }: ReadOptions,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const log = new OpenLog(path, tail, follow !== undefined);
  try {
    for (;;) {
      // Asked before it is read: then what was written until the end is read.
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
  /** Those that are not read yet, and the one that is. */
  #segments: Segment[];
  #reader: LineReader | undefined;
  #isGap = false;

  constructor(path: string, tail: number | undefined, grows: boolean) {
    this.#path = path;
    this.#grows = grows;
    this.#segments = openSegments(path);
    const { segment, offset } = tail === undefined ? { segment: 0, offset: 0 } : startOfLast(this.#segments, tail);
    closeSegments(this.#segments.splice(0, segment));
    this.#begin(offset);
  }

  close(): void {
    closeSegments(this.#segments.splice(0));
  }

  /** Empty: there is nothing more at the moment. */
  next(): LogRecord[] {
    for (;;) {
      if (this.#reader === undefined && !this.#open()) return [];
      const lines = this.#reader!.next();
      if (lines.length > 0) return lines.map(parseRecord);
      // The pump ends with a file before it renames it: what is in there by now is all of it, and is read before the next one.
      if (this.#segments.length === 1 && !this.#findNewer()) return [];
      const rest = this.#reader!.next();
      if (rest.length > 0) return rest.map(parseRecord);
      closeSegments(this.#segments.splice(0, 1));
      this.#begin(0);
      if (this.#isGap) return [this.#tellGap()];
    }
  }

  #open(): boolean {
    this.#segments = openSegments(this.#path);
    this.#begin(0);
    return this.#reader !== undefined;
  }

  #begin(offset: number): void {
    const [current] = this.#segments;
    this.#reader = current && new LineReader(current.fd, offset);
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
    return note(recordTime(Date.now()), "lines were rotated away before they were read");
  }
}
