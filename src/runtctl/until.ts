/** Waits for tasks: until they have stopped, until they are removed, or until they are ready. */
import { type EngineEvent, parseDuration, type Readiness, type TaskDetail, type TaskView } from "../engine/index.ts";
import { ClientError } from "./client.ts";
import { UsageError } from "./errors.ts";
import { followEvents } from "./event-stream.ts";
import { printable } from "./output/style.ts";
import { type End, endIn, printError, sleep } from "./platform/index.ts";
import type { Session } from "./session.ts";
import { inTask, taskIfThere } from "./tasks.ts";

/** Tasks usually stop within the stop timeouts of their containers. */
export const DEFAULT_WAIT = "10m";

export interface WaitedFor {
  readonly wait: boolean;
  readonly timeout?: string;
}

/** Parses the timeout into milliseconds. @throws UsageError */
export function limitOf({ wait, timeout }: WaitedFor): number {
  if (timeout !== undefined && !wait) throw new UsageError("--timeout with --no-wait: there is no wait that it could end");
  return durationOf(timeout ?? DEFAULT_WAIT);
}

/** Parses a duration into milliseconds. @throws UsageError */
export function durationOf(timeout: string): number {
  const limitMs = parseDuration(timeout);
  if (limitMs === undefined) throw new UsageError(`--timeout: ${timeout} is no duration like 10s or 2m`);
  return limitMs;
}

/** The moment at which a wait that begins now ends; undefined: it has no limit. A call has one such moment for all that it waits for. */
export function endFor(limitMs: number | undefined): End | undefined {
  return limitMs === undefined ? undefined : endIn(limitMs);
}

export interface Ended {
  /** Names. */
  readonly tasks: readonly { readonly id: string; readonly name: string }[];
  readonly to: "stopped" | "deleted";
  readonly end: End | undefined;
}

/**
 * Returns when all tasks have stopped or are removed, or when the time is over: then the ids of the others. What could not be stopped or removed is
 * reported once, as soon as the daemon says so.
 * @throws ClientError
 */
export async function untilEnded(session: Session, { tasks, to, end }: Ended): Promise<ReadonlySet<string>> {
  const open = new Map(tasks.map(({ id, name }) => [id, `task ${name} is not ${to}`]));
  const told = new Set<string>();
  await untilEach(
    session,
    tasks.map(({ id }) => id),
    {
      end,
      tells: TELLING[to],
      async look(id) {
        const task = await taskIfThere(session, id);
        if (task === undefined || (to === "stopped" && task.known === "STOPPED")) {
          open.delete(id);
          return "done";
        }
        const why = leftIn(task);
        if (why === "") return "open";
        const line = `task ${task.name} is not ${to} yet: ${why}`;
        if (!told.has(line)) printError(`runtctl: ${printable(line)}; the daemon tries again`);
        told.add(line);
        open.set(id, `task ${task.name} is not ${to}: ${why}`);
        return "open";
      },
    },
  );
  for (const line of open.values()) printError(`runtctl: ${printable(line)}; the wait is over, and the daemon goes on`);
  return new Set(open.keys());
}

/** Daemons of earlier versions do not send this field. */
function leftIn({ left = [] }: Partial<Pick<TaskView, "left">>): string {
  return left.map(({ of, message }) => `${of}: ${message}`).join("; ");
}

const TELLING: Readonly<Record<Ended["to"], (event: EngineEvent) => boolean>> = {
  deleted: ({ type }) => type === "removed" || type === "left",
  stopped: ({ type }) => type === "task" || type === "removed" || type === "left",
};

interface Wait {
  /** Whether an event means that the task has to be looked at. */
  tells(event: EngineEvent): boolean;
  /** done: this task is finished. done for now: it may become open again. end: the wait ends for all tasks. @throws ClientError */
  look(id: string): Promise<"open" | "done" | "done for now" | "end">;
  /** undefined: no limit. */
  readonly end?: End | undefined;
  /** Sequence number of the last known event. undefined: the newest event. */
  readonly after?: number | undefined;
}

/** Milliseconds between requests if the daemon accepts no further readers of events. */
const LOOK_MS = 100;

/**
 * Waits for a state of several tasks, by their events. Returns when all tasks are done, one has ended the wait, or the time is over. In the last
 * case each open task has been looked at once more.
 * @throws ClientError
 */
async function untilEach({ client, sockets }: Session, ids: readonly string[], { tells, look, end, after }: Wait): Promise<void> {
  const open = new Set(ids);
  const watched = new Set(ids);
  const isOver = async (some: Iterable<string>) => {
    for (const id of [...some]) {
      const found = await look(id);
      if (found === "end") return true;
      if (found === "open") open.add(id);
      else open.delete(id);
      if (found === "done") watched.delete(id);
    }
    return open.size === 0;
  };
  const lastSequence = after ?? (await client.call<{ lastSequence: number }>("GET", "/v1/node")).lastSequence;
  // What is not done now is reported by a later event.
  if (await isOver(open)) return;
  try {
    for await (const told of followEvents(sockets, lastSequence, { end })) {
      if ("gap" in told) {
        if (await isOver(watched)) return;
        continue;
      }
      const id = "task" in told.event ? told.event.task : null;
      if (id !== null && watched.has(id) && tells(told.event) && (await isOver([id]))) return;
    }
    await isOver(open);
  } catch (error) {
    // The daemon accepts no further readers of events.
    if (!(error instanceof ClientError && error.code === "refused")) throw error;
    while (!(await isOver(watched)) && end?.aborted !== true) await sleep(LOOK_MS, end);
  }
}

export interface ReadyOptions extends Pick<Wait, "end" | "after"> {
  /** Called with each event of these tasks. */
  readonly onEvent?: (event: EngineEvent) => void;
}

/**
 * Waits until tasks are ready. Returns when all are ready, one has failed, or the time is over: the tasks that are not ready, by id.
 * @throws ClientError
 */
export async function untilReady(
  session: Session,
  ids: readonly string[],
  { end, after, onEvent = () => {} }: ReadyOptions,
): Promise<ReadonlyMap<string, Readiness>> {
  const open = new Map<string, Readiness>();
  const look = async (id: string) => {
    const now = await readinessOf(session, id);
    if (now.state === "ready") open.delete(id);
    else open.set(id, now);
    // A task without checks is ready as soon as it runs, and may fail while others are waited for.
    return now.state === "ready" ? "done for now" : now.state === "failed" ? "end" : "open";
  };
  const tells = (event: EngineEvent) => {
    onEvent(event);
    return true;
  };
  await untilEach(session, ids, { end, after, tells, look });
  // The failure of one task ended the wait, so the state of the others may be old or unknown.
  if ([...open.values()].some(isFailed)) for (const id of ids.filter((one) => !isFailed(open.get(one)))) await look(id);
  return open;
}

function isFailed(readiness: Readiness | undefined): boolean {
  return readiness?.state === "failed";
}

async function readinessOf(session: Session, id: string): Promise<Readiness> {
  try {
    const { readiness } = await session.client.call<TaskDetail>("GET", inTask(session, id, "detail"));
    return readiness;
  } catch (error) {
    if (error instanceof ClientError && error.code === "unknown-task") return { state: "failed", why: "it was removed" };
    throw error;
  }
}
