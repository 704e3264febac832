/** Logs of a task's containers, as a reader of them asks. */
import { type LogRecord, note, previousLog, type ReadOptions, readLog, recordTime, watchLog } from "../logs/index.ts";
import type { ContainerView, TaskView } from "./view.ts";

export interface LogQuery {
  /** May be left out where a task has one container only. */
  readonly container?: string | undefined;
  /** The last lines only. */
  readonly tail?: number | undefined;
  /** Milliseconds since the epoch: what was printed before is left out. */
  readonly sinceMs?: number | undefined;
  /** Go on until the container has stopped for good; over restarts. */
  readonly follow: boolean;
  /** Of the incarnation before. */
  readonly previous: boolean;
  /** LogRecord.next of the last record that a reader has had: this one goes on there, also over a restart of the daemon. When following only. */
  readonly from?: string | undefined;
  /** Aborted when nobody reads any more: then following ends. */
  readonly signal?: AbortSignal;
}

export interface LogSource {
  /** undefined: the task is gone. */
  task(): TaskView | undefined;
  /** Called after each change of a task. Returns how to stop that. */
  onCommit(listener: () => void): () => void;
}

/** Nothing is held for a slow reader: the file is read on when what was read has been taken. */
export async function* readContainerLog(
  first: ContainerView,
  source: LogSource,
  query: LogQuery,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const since = query.sinceMs === undefined ? undefined : recordTime(query.sinceMs);
  if (query.previous) {
    const path = previousLog(first.log);
    if (path !== undefined) yield* readLog(path, { tail: query.tail, since });
    return;
  }
  if (!query.follow) return yield* readLog(first.log, { tail: query.tail, since });
  let from = query.from === undefined ? undefined : placeOf(query.from);
  if (from !== undefined && from.generation < first.generation) {
    yield* placed(from.generation, restOf(first, from, since));
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

/** What an earlier incarnation has printed behind the place; that there is nothing of it any more is told. */
async function* restOf(
  { log, generation }: ContainerView,
  from: ReturnType<typeof placeOf>,
  since: string | undefined,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  let path: string | undefined = log;
  for (let at = generation; path !== undefined && at > from.generation; at--) path = previousLog(path);
  if (path === undefined) yield [note(recordTime(Date.now()), "lines of an earlier start are gone")];
  else yield* readLog(path, { since, from: from.place });
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
    yield* readLog(log, { ...options, follow: { isOver, changed: watch.changed } });
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", watch.wake);
    watch.close();
  }
}
