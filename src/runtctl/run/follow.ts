/** Connects the terminal with a task of one container: its output, its input, and its end. */

import { type Reason, type TaskDetail, type TaskView, TextWriter } from "../../engine/index.ts";
import { followEvents } from "../event-stream.ts";
import { followLog } from "../log-stream.ts";
import { chainOf } from "../output/event-line.ts";
import { onSignals, sleep, stderr, stdout } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { inTask, taskOf, taskPath } from "../tasks.ts";
import { CONTAINER } from "./task-text.ts";

/** Milliseconds between two requests for a task: the first pause, which is doubled each time, and the longest one. */
const SOON_MS = 1;
const LOOK_MS = 20;
/** docker(1) exits with this status if no program was run, unless it is the program's fault. */
export const NOT_RUN = 125;
export const UNKNOWN = 255;

/** Waits until the task runs or has ended. @throws ClientError */
export function untilStarted(session: Session, id: string): Promise<TaskView> {
  return untilKnown(session, id, ["RUNNING", "STOPPED"]);
}

/** Waits until the task has ended. @throws ClientError */
export function untilStopped(session: Session, id: string): Promise<TaskView> {
  return untilKnown(session, id, ["STOPPED"]);
}

async function untilKnown(session: Session, id: string, states: readonly TaskView["known"][]): Promise<TaskView> {
  for (let pause = SOON_MS; ; pause = Math.min(LOOK_MS, 2 * pause)) {
    const task = await taskOf(session, id);
    if (states.includes(task.known)) return task;
    await sleep(pause);
  }
}

/**
 * Waits until the program of the task runs or has run. Returns why it was not run; undefined: it was run. Uses events, which also report a task
 * that has been removed by now.
 * @param after sequence number of an event before the task.
 * @throws ClientError
 */
export async function whyNotRun({ sockets }: Session, id: string, after: number): Promise<{ status: number; why: string } | undefined> {
  for await (const told of followEvents(sockets, after)) {
    if (!("event" in told) || !("task" in told.event) || told.event.type === "interface" || told.event.task !== id) continue;
    const { event } = told;
    if (event.type === "container" && event.container === CONTAINER) {
      if (event.known === "RUNNING" || event.exit !== null) return undefined;
      if (event.known === "STOPPED")
        return event.reason === null
          ? { status: NOT_RUN, why: "it was not run" }
          : { status: statusIn(event.reason) ?? NOT_RUN, why: chainOf(event.reason).join(" <- ") };
    }
    if (event.type === "removed") return { status: NOT_RUN, why: "it was removed" };
  }
  return undefined;
}

/** Prints the output of the task to the matching streams. Returns when all of it is printed. */
export async function printOutput(session: Session, id: string): Promise<void> {
  const writer = new TextWriter({ hasTimes: false });
  const request = { container: CONTAINER, since: undefined, tail: undefined, previous: undefined };
  for await (const record of await followLog(session, id, request)) {
    await (record.stream === "stdout" ? stdout : stderr).send(writer.render(record));
  }
}

/** SIGINT and SIGTERM stop the task. A second signal calls `leave`. Returns a function that removes the handlers. */
export function passSignals({ client, group }: Session, id: string, leave: () => void): () => void {
  let isAsked = false;
  return onSignals(["SIGINT", "SIGTERM"], () => {
    if (isAsked) return leave();
    isAsked = true;
    client.call("POST", taskPath(id, group, "stop")).catch(() => {});
  });
}

/** Exit status of an ended task, and the reason if no program was run. @throws ClientError */
export async function endOf(
  session: Session,
  { id, containers, reason }: TaskView,
): Promise<{ readonly status: number; readonly why?: string }> {
  const found = containers.find(({ name }) => name === CONTAINER);
  if (found !== undefined && found.exit !== null) return { status: found.exit.unknown ? UNKNOWN : (found.exit.code ?? UNKNOWN) };
  const detail = await session.client.call<TaskDetail>("GET", inTask(session, id, "detail"));
  const why = detail.containers.find(({ name }) => name === CONTAINER)?.reason ?? null;
  return { status: statusIn(why) ?? NOT_RUN, why: found?.reason ?? reason ?? "it was not run" };
}

/** What a shell would end with; undefined: it is not about the program. */
function statusIn(why: Reason | null): number | undefined {
  return why === null ? undefined : (why.exitStatus ?? statusIn(why.cause ?? null));
}
