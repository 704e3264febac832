/** Merges several logs by time. */
import type { LogRecord } from "../../engine/index.ts";

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
