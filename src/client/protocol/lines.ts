/** Takes the lines of a log apart. */
import { noDaemon } from "./errors.ts";

const NEWLINE = 0x0a;
/** Maximum size of a record in bytes, far above that of any record of a log. */
const LONGEST = 16 * 1024 * 1024;

/** Yields lines without newlines. Bytes after the last newline are a line, too. @throws ClientError: a line is too long; the errors of the stream */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]);
      rest = [];
      length = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > LONGEST) throw noDaemon("it sends a line without an end");
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

/** A line of a log, and the position after it, from which reading can continue; "-": the position is unknown. */
export interface Placed {
  readonly place: string;
  readonly line: Buffer;
}

const BLANK = 0x20;

/** Yields the lines of a log that was asked for with positions. @throws as `linesOf` */
export async function* placedLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Placed> {
  for await (const line of linesOf(stream)) {
    const end = line.indexOf(BLANK);
    yield { place: line.toString("latin1", 0, end), line: line.subarray(end + 1) };
  }
}
