/** Reads a log from its beginning or near its end, while it is being written and rotated. */

import { type FSWatcher, fstatSync, readSync, watch } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { LineReader, linesBackward } from "./lines.ts";
import { type LogRecord, note, parseRecord, recordTime } from "./record.ts";
import { closeSegments, newerThan, openSegments, type Segment } from "./segments.ts";

export interface ReadOptions {
  /** Only this many lines from the end. */
  readonly tail?: number | undefined;
  /** Only records of this time or later, in the format of LogRecord.time. A rotated file that begins and ends earlier is not searched. */
  readonly since?: string | undefined;
  /** `LogRecord.next` of the last record that was read. If it is given, `tail` is ignored. */
  readonly from?: string | undefined;
  /** Absent: reading ends at the current end of the log. */
  readonly follow?: Following | undefined;
  /** Ends reading, also within a search. */
  readonly signal?: AbortSignal | undefined;
}

export interface Following {
  /** Whether nothing more will be written. */
  isOver(): boolean;
  /** Resolves when there may be new records. */
  changed(): Promise<void>;
}

/**
 * Yields records in batches, in the order of the files. Buffers about 64 KiB, even if the caller is
 * slow. If files were rotated away before they were read, a record of the stream runt says so. Other work of this process goes on between the batches, and
 * while a large log is searched.
 * @param path of the log, which need not exist yet
 */
export async function* readLog(
  path: string,
  { tail, since = "", from, follow, signal }: ReadOptions,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const log = await OpenLog.open(path, { tail, since, from, signal, grows: follow !== undefined });
  try {
    for (;;) {
      // `isOver` is asked before reading, so that everything written before the end is read.
      const isOver = follow?.isOver() ?? true;
      for (let records = log.next(); records.length > 0; records = log.next()) {
        const wanted = records.filter(({ time }) => time >= since);
        if (wanted.length > 0) yield wanted;
        await setImmediate();
        if (signal?.aborted) return;
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

  static async open(
    path: string,
    { from, grows, ...range }: Range & Pick<ReadOptions, "from"> & { readonly grows: boolean },
  ): Promise<OpenLog> {
    const segments = openSegments(path);
    try {
      const start = from === undefined ? await startOf(segments, range) : placeIn(segments, from);
      return new OpenLog(path, grows, segments, start);
    } catch (error) {
      closeSegments(segments);
      throw error;
    }
  }

  /** @param start undefined: the segment in which reading should continue is gone */
  private constructor(path: string, grows: boolean, segments: Segment[], start: Start | undefined) {
    this.#path = path;
    this.#grows = grows;
    this.#segments = segments;
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

/** A position in a log, from which another reader or process can continue later: "INODE-OFFSET-FIRST". */
const PLACE = /^(\d+)-(\d+)-(\d*)$/;
/** Large enough for the time of a record, which is its first field. */
const HEAD_BYTES = 64;

/**
 * The digits of the time of the file's first record; empty if there is no record. They distinguish files that had the same inode number one after
 * the other.
 */
function firstOf({ fd }: Segment): string {
  return headOf(fd).time.replaceAll(/\D/g, "");
}

/** The first record, of which only the head is whole. */
function headOf(fd: number): LogRecord {
  const head = Buffer.alloc(HEAD_BYTES);
  const size = readSync(fd, head, 0, HEAD_BYTES, 0);
  return parseRecord(head.subarray(0, size));
}

/** @param first result of `firstOf` for this segment */
function placeText({ inode }: Segment, offset: number, first: string): string {
  return `${inode}-${offset}-${first}`;
}

/** Finds the segment and offset of a position; undefined if its file is gone. */
function placeIn(segments: readonly Segment[], text: string): { readonly segment: number; readonly offset: number } | undefined {
  const [, inode, digits, first] = PLACE.exec(text) ?? [];
  const segment = segments.findIndex((one) => String(one.inode) === inode && firstOf(one) === first);
  const offset = Number(digits);
  return segment !== -1 && offset <= fstatSync(segments[segment]!.fd).size ? { segment, offset } : undefined;
}

/** Finds where reading begins. */
interface Start {
  /** Index of the segment. */
  readonly segment: number;
  readonly offset: number;
}

interface Range {
  readonly tail: number | undefined;
  /** Empty: of any time. */
  readonly since: string;
  readonly signal: AbortSignal | undefined;
}

/** Bytes of a log that are searched before other work of this process gets its turn. */
const SEARCHED_AT_ONCE = 65_536;

/** The position of the last `tail` lines of all streams together, including an unfinished line, and behind the files that have only earlier ones. */
async function startOf(segments: readonly Segment[], { tail, since, signal }: Range): Promise<Start> {
  const lowest = firstSince(segments, since);
  if (tail === undefined) return { segment: lowest, offset: 0 };
  let lines = 0;
  /** Streams of which a later record was seen. A part of such a stream belongs to the same line as that record. */
  const seen = new Set<string>();
  let start: Start | undefined;
  let searched = 0;
  for (let segment = segments.length - 1; segment >= lowest; segment--) {
    for (const { start: offset, line } of linesBackward(segments[segment]!.fd)) {
      const { stream, isPart } = parseRecord(line);
      const begins = !isPart || !seen.has(stream);
      seen.add(stream);
      if (begins && ++lines > tail) return start ?? { segment, offset: offset + line.length + 1 };
      start = { segment, offset };
      searched += line.length + 1;
      if (searched < SEARCHED_AT_ONCE) continue;
      searched = 0;
      await setImmediate();
      if (signal?.aborted) return start;
    }
  }
  return start ?? { segment: Math.max(0, segments.length - 1), offset: 0 };
}

/** Index of the first segment that can have records of this time or later. The current file is never left out. */
function firstSince(segments: readonly Segment[], since: string): number {
  let at = 0;
  while (at < segments.length - 1 && isBefore(segments[at]!, since)) at++;
  return at;
}

function isBefore(segment: Segment, since: string): boolean {
  // Between the first and the last record there are later ones only if the clock was set back.
  return [...timesOf(segment)].every((time) => time < since);
}

/** Of the first and the last record; empty for what is no record. */
function* timesOf({ fd }: Segment): Generator<string> {
  yield headOf(fd).time;
  for (const { line } of linesBackward(fd)) return yield parseRecord(line).time;
}

// Notifies a reader when a log has grown.

/** Polling interval in milliseconds, for hosts without free inotify watches and for changes that inotify does not report. */
const LOOK_MS = 1_000;

export interface LogWatch {
  /** Resolves when something has changed since the last call, or when the polling interval is over. */
  changed(): Promise<void>;
  /** Wakes the reader for a reason other than a change of the file. */
  wake(): void;
  close(): void;
}

/** Watches the directory, because rotation renames the files. */
export function watchLog(path: string): LogWatch {
  let pending = false;
  let settle: (() => void) | undefined;
  const wake = () => {
    pending = true;
    settle?.();
  };
  const timer = setInterval(wake, LOOK_MS);
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), wake);
    watcher.on("error", () => watcher?.close());
  } catch {
    // The directory is missing, or this user has no inotify watches left. Polling still works.
  }
  return {
    async changed() {
      if (!pending)
        await new Promise<void>((resolve) => {
          settle = resolve;
        });
      settle = undefined;
      pending = false;
    },
    wake,
    close() {
      clearInterval(timer);
      watcher?.close();
      wake();
    },
  };
}
