/** Reads the lines of a log, and merges several logs by time. */
import type { LogRecord } from "../../engine/index.ts";
import { ClientError } from "../client.ts";

export interface Source {
  readonly records: AsyncGenerator<LogRecord>;
}

/**
 * Yields the records of several logs by time. Buffers one record of each log. Records of one log keep their order, even if their times do not
 * ascend.
 */
export async function* byTime<S extends Source>(sources: readonly S[]): AsyncGenerator<{ readonly source: S; readonly record: LogRecord }> {
  const next = async (source: S) => ({ source, result: await source.records.next() });
  const heads = await Promise.all(sources.map(next));
  for (;;) {
    let first = -1;
    for (const [index, { result }] of heads.entries()) {
      if (!result.done && (first === -1 || result.value.time < timeOf(heads[first]!.result))) first = index;
    }
    if (first === -1) return;
    const { source, result } = heads[first]!;
    yield { source, record: result.value as LogRecord };
    heads[first] = await next(source);
  }
}

function timeOf({ value }: IteratorResult<LogRecord>): string {
  return value.time;
}

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
    if (length > LONGEST) throw new ClientError("no-daemon", "what answers is no runtd: it sends a line without an end");
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
