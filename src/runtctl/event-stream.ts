/** Reads the server-sent events of the daemon, in order. */
import { type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineEvent } from "../engine/index.ts";
import { ClientError, connectionError, connectionOptions } from "./client.ts";
import type { Sockets } from "./sockets.ts";

export type Told =
  | { readonly sequence: number; readonly event: EngineEvent }
  /** The journal no longer has the events between this number and the next event. */
  | { readonly gap: { readonly after: number; readonly next: number } };

const RETRY_MS = 500;

interface Following {
  /** Called with false when the connection is lost, and with true when a daemon answers again. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined;
  /** Ends the generator. undefined: it has no end. */
  readonly end?: AbortSignal | undefined;
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
      const response = await connected(sockets, last, end);
      if (isLost) onConnection?.(true);
      [isFirst, isLost] = [false, false];
      for await (const told of eventsIn(response)) {
        if ("sequence" in told) last = told.sequence;
        yield told;
      }
    } catch (error) {
      if (end?.aborted) return;
      if (isFirst || (error instanceof ClientError && error.code !== "unreachable")) throw error;
    }
    if (!isLost) onConnection?.(false);
    isLost = true;
    await sleep(RETRY_MS, undefined, { signal: end }).catch(() => {});
  }
}

async function connected([socketPath, ...others]: Sockets, after: number, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const call = request({ ...connectionOptions(socketPath, `/v1/events?after=${after}`), signal }, (response) => {
        if (response.statusCode === 200) return resolve(response);
        call.destroy();
        reject(new ClientError("refused", `the daemon answers ${response.statusCode}`));
      });
      call.once("error", (error) => reject(connectionError(socketPath, error)));
      call.end();
    });
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined || !(error instanceof ClientError && error.code === "permission-denied")) throw error;
    return connected([next, ...rest], after, signal);
  }
}

/** Ends with the response, or when the connection to the daemon is lost. */
async function* eventsIn(response: IncomingMessage): AsyncGenerator<Told, void, undefined> {
  let text = "";
  response.setEncoding("utf8");
  try {
    for await (const chunk of response) {
      text += chunk;
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
        const told = parsed(text.slice(0, end));
        text = text.slice(end + 2);
        if (told !== undefined) yield told;
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
  }
}

function parsed(block: string): Told | undefined {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
  const data = field("data");
  if (data === undefined) return undefined;
  if (field("event") === "gap") return { gap: JSON.parse(data) as { after: number; next: number } };
  return { sequence: Number(field("id")), event: JSON.parse(data) as EngineEvent };
}
