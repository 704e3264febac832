/** Reads the lines of a log, and merges several logs by time. */
import type { LogRecord } from "../../engine/index.ts";
import { ClientError } from "../client.ts";

export interface Source {
  readonly records: AsyncGenerator<LogRecord>;
}

/** Buffers one record of each log. Records of one log keep their order, even if their times do not ascend. */
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
