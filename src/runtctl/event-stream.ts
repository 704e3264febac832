/** Reads the events of the daemon, in order. */
import { type ServerEvent, type Sockets, serverEvents } from "../client/protocol/index.ts";
import type { EngineEvent } from "../engine/index.ts";
import { type Answered, askFirst, ClientError, parsedOr } from "./client.ts";
import { ASK, type End, sleep } from "./platform/index.ts";

export type Told =
  | { readonly sequence: number; readonly event: EngineEvent }
  /** The journal no longer has the events after `after` and before `next`. */
  | { readonly gap: { readonly after: number; readonly next: number } };

const RETRY_MS = 500;

interface Following {
  /** Called with false when the connection is lost, and with true when a daemon answers again. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined;
  /** Ends the generator. undefined: it has no end. */
  readonly end?: End | undefined;
}

/**
 * Yields events that follow a sequence number. Reconnects if the daemon was restarted.
 * @throws ClientError: the first connection has failed or was refused
 */
export async function* followEvents(
  sockets: Sockets,
  after: number,
  { onConnection, end }: Following = {},
): AsyncGenerator<Told, void, undefined> {
  let last = after;
  let isLost = false;
  for (let isFirst = true; end?.aborted !== true; isFirst = false) {
    try {
      const answered = await connectToEvents(sockets, last, end);
      if (isLost) onConnection?.(true);
      [isFirst, isLost] = [false, false];
      for await (const told of eventsIn(answered)) {
        if ("sequence" in told) last = told.sequence;
        yield told;
        // The daemon may have so much to tell that no silence shows the end.
        if (end?.aborted) return;
      }
    } catch (error) {
      if (end?.aborted) return;
      if (isFirst || (error instanceof ClientError && error.code !== "unreachable")) throw error;
    }
    if (!isLost) onConnection?.(false);
    isLost = true;
    await sleep(RETRY_MS, end);
  }
}

async function connectToEvents(sockets: Sockets, after: number, end: End | undefined): Promise<Answered> {
  const answered = await askFirst(sockets, { method: "GET", path: `/v1/events?after=${after}`, isStream: true, end });
  if (answered.status === 200) return answered;
  answered.close();
  throw new ClientError("refused", `the daemon answers ${answered.status}`);
}

/** Yields events until the answer ends or the connection to the daemon is lost. */
async function* eventsIn({ body }: Answered): AsyncGenerator<Told, void, undefined> {
  try {
    for await (const found of serverEvents(body)) yield toldIn(found);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== ASK.lost) throw error;
  }
}

function toldIn({ event, id, data }: ServerEvent): Told {
  const value = parsedOr(() => new ClientError("no-daemon", "what answers is no runtd: it sends an event that cannot be read"), data);
  if (event === "gap") return { gap: value as { after: number; next: number } };
  return { sequence: Number(id), event: value as EngineEvent };
}
