/** Answers that arrive in pieces: events, progress, logs, archives. */
import type { LogRecord } from "../engine/index.ts";
import { FRAME, FrameReader } from "../shared/frames/index.ts";
import { LONGEST_RECORD_HEAD, recordHead } from "../shared/records/index.ts";
import type { Event, Gap } from "./models.ts";
import { ClientError, failureIn, noDaemon, placedLines, refusal, serverEvents } from "./protocol/index.ts";
import { BROKEN, objectIn } from "./transport.ts";

/** An event of the journal with its number, or a gap: events that the journal no longer has. */
export type JournalEvent = { readonly sequence: number; readonly event: Event } | { readonly gap: Gap };

type Pieces = AsyncIterable<Uint8Array>;

const ended = (what: string) => new ClientError(BROKEN, `the daemon has ended ${what}`);

/** Has no end of its own. @throws ClientError; the errors of the pieces */
export async function* journalIn(pieces: Pieces): AsyncGenerator<JournalEvent, never, undefined> {
  for await (const { event, id, data } of serverEvents(pieces)) {
    const value: unknown = objectIn(data);
    if (event === "gap") yield { gap: value as Gap };
    else yield { sequence: Number(id), event: value as Event };
  }
  throw ended("the stream of events");
}

/** Names of the events that end a stream of progress. */
const LAST: readonly string[] = ["image", "pushed", "done"];

/** Ends with the last event, which is yielded, too. @throws ClientError: the work has failed; the errors of the pieces */
export async function* progressIn(pieces: Pieces): AsyncGenerator<{ readonly event: string; readonly data: unknown }, void, undefined> {
  for await (const { event, data } of serverEvents(pieces)) {
    const value = objectIn(data);
    if (event === "error") throw refusal(value);
    yield { event, data: value };
    if (LAST.includes(event)) return;
  }
  throw ended("before the work was done");
}

/** A position in a log; "-": unknown. */
const PLACE = /^(?:-|\d[\d-]*)$/;
/** How the daemon begins a line of the file that is no record, and so has no time. */
const NO_RECORD = " runt F ";

/** @throws ClientError: it is no log; the errors of the pieces */
export async function* recordsIn(pieces: Pieces): AsyncGenerator<LogRecord, void, undefined> {
  for await (const { place, line } of placedLines(pieces)) {
    if (!PLACE.test(place)) throw noDaemon("it sends a line that is no record");
    yield { ...recordIn(line), ...(place === "-" ? {} : { next: place }) };
  }
}

function recordIn(line: Buffer): LogRecord {
  const head = recordHead(line.toString("latin1", 0, LONGEST_RECORD_HEAD));
  if (head !== undefined) {
    const { length, ...rest } = head;
    return { ...rest, bytes: line.subarray(length) };
  }
  // A log with such a line must stay readable, so that it is a message of the log, as for runtctl.
  const isMessage = line.toString("latin1", 0, NO_RECORD.length) === NO_RECORD;
  const bytes = isMessage ? line.subarray(NO_RECORD.length) : Buffer.from(`unreadable: ${line.toString("utf8", 0, 200)}`);
  return { time: "", stream: "runt", isPart: false, bytes };
}

/** The bytes in frames, whose last one says that they are whole. @throws ClientError; the errors of the pieces */
export async function* framedIn(pieces: Pieces): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new FrameReader();
  for await (const piece of pieces) {
    for (const { kind, payload } of framesIn(reader, piece)) {
      if (kind === FRAME.end) return;
      if (kind === FRAME.failed) throw failureIn(payload);
      yield payload;
    }
  }
  throw ended("before the archive was whole");
}

function framesIn(reader: FrameReader, piece: Uint8Array): ReturnType<FrameReader["push"]> {
  try {
    return reader.push(piece);
  } catch (error) {
    throw noDaemon(`it sends ${(error as Error).message}`);
  }
}
