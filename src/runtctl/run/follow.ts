/** Connects the terminal with a task of one container: its output, its input, and its end. */

import { setTimeout as sleep } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import { TextWriter } from "../../engine/client.ts";
import type { TaskView } from "../../engine/index.ts";
import { FRAME } from "../../shared/frames/index.ts";
import { ClientError } from "../client.ts";
import { DetachKeys } from "../detach-keys.ts";
import { followEvents } from "../event-stream.ts";
import { followLog } from "../log-stream.ts";
import { chainOf } from "../output/event-line.ts";
import type { Session } from "../session.ts";
import { RemoteProgram, upgraded } from "../streams.ts";
import { inTask, taskOf, taskPath } from "../tasks.ts";
import { takeTerminal } from "../terminal.ts";
import { CONTAINER } from "./task-text.ts";

const LOOK_MS = 20;
/** docker(1) exits with this status if no program was run. */
export const NOT_RUN = 125;
const UNKNOWN = 255;

/** Waits until the task runs or has ended. @throws ClientError */
export async function untilStarted(session: Session, id: string): Promise<TaskView> {
  for (;;) {
    const task = await taskOf(session, id);
    if (task.known === "RUNNING" || task.known === "STOPPED") return task;
    await sleep(LOOK_MS);
  }
}

/**
 * Waits until the program of the task runs or has run; undefined: it has. Otherwise why not. By events, which tell it of a task that is gone by now, too.
 * @param after sequence number of an event before the task. @throws ClientError
 */
export async function whyNotRun({ sockets }: Session, id: string, after: number): Promise<string | undefined> {
  for await (const told of followEvents(sockets, after)) {
    if (!("event" in told) || told.event.type === "interface" || told.event.task !== id) continue;
    const { event } = told;
    if (event.type === "container" && event.container === CONTAINER) {
      if (event.known === "RUNNING" || event.exit !== null) return undefined;
      if (event.known === "STOPPED") return event.reason === null ? "it was not run" : chainOf(event.reason).join(" <- ");
    }
    if (event.type === "removed") return "it was removed";
  }
  return undefined;
}

/** @throws ClientError */
export async function untilStopped(session: Session, id: string): Promise<TaskView> {
  for (;;) {
    const task = await taskOf(session, id);
    if (task.known === "STOPPED") return task;
    await sleep(LOOK_MS);
  }
}

/** Prints the output of the task to the matching streams. Returns when all of it is printed. */
export async function printOutput(session: Session, id: string): Promise<void> {
  const writer = new TextWriter({ hasTimes: false });
  const request = { container: CONTAINER, since: undefined, tail: undefined, previous: undefined };
  for await (const record of await followLog(session, id, request)) {
    const stream = record.stream === "stdout" ? process.stdout : process.stderr;
    if (!stream.write(writer.render(record))) await new Promise((resolve) => stream.once("drain", resolve));
  }
}

/** Sends what is typed to the container. Returns a function that restores the terminal. `leave` is called for ^P ^Q. */
export async function passInput(session: Session, id: string, hasTty: boolean, leave: () => void): Promise<() => void> {
  const { stdin, stdout } = process;
  let socket: Awaited<ReturnType<typeof upgraded>>;
  try {
    socket = await upgraded(session.sockets, inTask(session, id, "attach", { container: CONTAINER, stdin: "true" }));
  } catch (error) {
    // The container has already ended.
    if (error instanceof ClientError && error.code === "container-not-running") return () => {};
    throw error;
  }
  // The output is printed from the log, which has it from the beginning.
  const silent = { write: () => true } as unknown as NodeJS.WriteStream;
  const remote = new RemoteProgram(socket, { stdin, stdout: silent, stderr: silent });
  const tell = (size: object) => void remote.send(FRAME.resize, JSON.stringify(size));
  const terminal = hasTty && stdin.isTTY ? takeTerminal(stdin as ReadStream, stdout, tell) : undefined;
  if (terminal !== undefined) tell(terminal.size);
  const keys = new DetachKeys(leave);
  const typed = (chunk: Buffer) => (terminal === undefined ? chunk : keys.take(chunk));
  // The end of the container is read from the task, not from this connection.
  remote.run({ broken: "the daemon has gone away; the container goes on", typed }).catch(() => {});
  return () => {
    terminal?.restore();
    remote.close();
  };
}

/** SIGINT and SIGTERM stop the task. Returns a function that removes the handlers. */
export function passSignals({ client, group }: Session, id: string): () => void {
  const stop = () => void client.call("POST", taskPath(id, group, "stop")).catch(() => {});
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return () => process.off("SIGINT", stop).off("SIGTERM", stop);
}

/** Exit status of an ended task, and the reason if no program was run. */
export function endOf({ containers, reason }: TaskView): { readonly status: number; readonly why?: string } {
  const found = containers.find(({ name }) => name === CONTAINER);
  if (found?.exit === null || found === undefined) return { status: NOT_RUN, why: found?.reason ?? reason ?? "it was not run" };
  return { status: found.exit.unknown ? UNKNOWN : (found.exit.code ?? UNKNOWN) };
}
