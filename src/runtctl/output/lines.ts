/** Splits a stream of bytes into lines. */
import { ClientError } from "../client.ts";

const NEWLINE = 0x0a;
/** What a record of a log has at most, and much more. */
const LONGEST = 16 * 1024 * 1024;

/** The lines have no newlines. Bytes after the last newline form a line. @throws ClientError: one is too long; and what the stream throws */
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
    if (length > LONGEST) throw new ClientError("no-daemon", "what answers is no runtd: it sends a line without an end");
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
