/** Waits for something of each of several tasks, by the events that tell of it. */
import type { EngineEvent } from "../engine/index.ts";
import { ClientError } from "./client.ts";
import { followEvents } from "./event-stream.ts";
import { endIn, sleep } from "./platform/index.ts";
import type { Session } from "./session.ts";

export interface Wait {
  /** The events of a task after which it is looked at. */
  tells(event: EngineEvent): boolean;
  /** done: this one need not be waited for any more. done for now: it may be open again later. end: none of them need be waited for. @throws ClientError */
  look(id: string): Promise<"open" | "done" | "done for now" | "end">;
  /** In milliseconds. undefined: without a limit. */
  readonly limitMs?: number | undefined;
}

/** A daemon that takes no more readers of events is asked this often. */
const LOOK_MS = 100;

/** Returns when each is done, one has ended the wait, or the time is over. In the last case each that is open was looked at once more. @throws ClientError */
export async function untilEach({ client, sockets }: Session, ids: readonly string[], { tells, look, limitMs }: Wait): Promise<void> {
  const open = new Set(ids);
  const watched = new Set(ids);
  const end = limitMs === undefined ? undefined : endIn(limitMs);
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
  const { lastSequence } = await client.call<{ lastSequence: number }>("GET", "/v1/node");
  // What is not done now is told when it is.
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
    // There are as many readers of events as the daemon takes.
    if (!(error instanceof ClientError && error.code === "refused")) throw error;
    while (!(await isOver(watched)) && end?.aborted !== true) await sleep(LOOK_MS);
  }
}
