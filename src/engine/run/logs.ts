/** Logs of a task's containers, as a reader of them asks. */
import { type LogRecord, previousLog, readLog, recordTime, watchLog } from "../logs/index.ts";
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
  for (let current: ContainerView | undefined = first, tail = query.tail; current !== undefined; tail = undefined) {
    yield* followIncarnation(current, source, { tail, since, signal: query.signal });
    if (query.signal?.aborted) return;
    const { generation }: ContainerView = current;
    current = source.task()?.containers.find(({ name }) => name === first.name);
    if (current?.generation === generation) return;
  }
}

async function* followIncarnation(
  { name, generation, log }: ContainerView,
  source: LogSource,
  {
    signal,
    ...options
  }: { readonly tail: number | undefined; readonly since: string | undefined; readonly signal: AbortSignal | undefined },
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
