/** Reads the logs of a task's containers for a client. */
import { type LogRecord, note, previousLog, type ReadOptions, readLog, recordTime, watchLog } from "../../logs/index.ts";
import type { ContainerView, TaskView } from "../view.ts";

export interface LogQuery {
  /** Name of the container. It may be missing if the task has only one. */
  readonly container?: string | undefined;
  /** Return only this many lines from the end. */
  readonly tail?: number | undefined;
  /** Milliseconds since the epoch. Records that were printed earlier are left out. */
  readonly sinceMs?: number | undefined;
  /** Continue with new output until the container has stopped for good, across restarts. */
  readonly follow: boolean;
  /** Read the log of the previous incarnation. */
  readonly previous: boolean;
  /** LogRecord.next of the last record that the client has: reading continues behind it, also after a restart of the daemon. Only with `follow`. */
  readonly from?: string | undefined;
  /** Aborted when the client is gone; this ends `follow`. */
  readonly signal?: AbortSignal;
}

export interface LogSource {
  /** undefined: the task was removed. */
  task(): TaskView | undefined;
  /** Calls `listener` after each change of a task. Returns a function that unsubscribes it. */
  onCommit(listener: () => void): () => void;
}

/** Reads the file further only when the client has taken what was read, so that a slow client needs no buffer. */
export async function* readContainerLog(
  first: ContainerView,
  source: LogSource,
  query: LogQuery,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const since = query.sinceMs === undefined ? undefined : recordTime(query.sinceMs);
  if (query.previous) {
    const path = previousLog(first.log);
    if (path !== undefined) yield* readLog(path, { tail: query.tail, since, signal: query.signal });
    return;
  }
  if (!query.follow) return yield* readLog(first.log, { tail: query.tail, since, signal: query.signal });
  let from = query.from === undefined ? undefined : placeOf(query.from);
  if (from !== undefined && from.generation < first.generation) {
    yield* placed(from.generation, restOf(first, from, { since, signal: query.signal }));
    from = undefined;
  }
  for (let current: ContainerView | undefined = first, tail = query.tail; current !== undefined; tail = undefined, from = undefined) {
    const options = { tail: query.from === undefined ? tail : undefined, since, from: from?.place, signal: query.signal };
    yield* placed(current.generation, followIncarnation(current, source, options));
    if (query.signal?.aborted) return;
    const { generation }: ContainerView = current;
    current = source.task()?.containers.find(({ name }) => name === first.name);
    if (current?.generation === generation) return;
  }
}

/** "GENERATION-PLACE" */
function placeOf(text: string): { readonly generation: number; readonly place: string } {
  const at = text.indexOf("-");
  return { generation: Number(text.slice(0, at)), place: text.slice(at + 1) };
}

async function* placed(
  generation: number,
  batches: AsyncGenerator<readonly LogRecord[], void, undefined>,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  for await (const records of batches) {
    yield records.map((record) => (record.next === undefined ? record : { ...record, next: `${generation}-${record.next}` }));
  }
}

/** What an earlier incarnation printed behind the given place. If that part of the log was removed, one record says so. */
async function* restOf(
  { log, generation }: ContainerView,
  from: ReturnType<typeof placeOf>,
  options: Pick<ReadOptions, "since" | "signal">,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  let path: string | undefined = log;
  for (let at = generation; path !== undefined && at > from.generation; at--) path = previousLog(path);
  if (path === undefined) yield [note(recordTime(Date.now()), "lines of an earlier start are gone")];
  else yield* readLog(path, { ...options, from: from.place });
}

async function* followIncarnation(
  { name, generation, log }: ContainerView,
  source: LogSource,
  { signal, ...options }: Pick<ReadOptions, "tail" | "since" | "from"> & { readonly signal: AbortSignal | undefined },
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const watch = watchLog(log);
  const unsubscribe = source.onCommit(watch.wake);
  signal?.addEventListener("abort", watch.wake);
  const isOver = () => {
    if (signal?.aborted) return true;
    const now = source.task()?.containers.find((one) => one.name === name);
    return now === undefined || now.generation !== generation || now.known === "STOPPED";
  };
  try {
    yield* readLog(log, { ...options, signal, follow: { isOver, changed: watch.changed } });
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", watch.wake);
    watch.close();
  }
}
