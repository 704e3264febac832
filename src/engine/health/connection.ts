/** Makes the connections of checks, and limits their time. */
import { Duplex } from "node:stream";
import type { TcpCheck } from "../spec/index.ts";
import type { Relay, RelayVerb, StartRelay } from "./relay.ts";

export interface Probe {
  /** Starts the process that makes the connection. */
  readonly start: StartRelay;
  readonly timeoutMs: number;
}

export interface Checked {
  readonly isHealthy: boolean;
  readonly output: string;
  /** Status of the HTTP response; absent: there was none. */
  readonly status?: number;
}

const LONGEST_TEXT = 4096;

/** Returns the result of `work`. If `work` fails or takes too long, the result is a failed check. @throws the errors of `start` */
export async function overRelay(
  verb: RelayVerb,
  target: TcpCheck,
  { start, timeoutMs }: Probe,
  work: (relay: Relay) => Promise<Checked>,
): Promise<Checked> {
  let told = "";
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed()), timeoutMs);
  });
  const starting = start(verb, target, timeoutMs);
  let relay: Relay | undefined;
  try {
    relay = await Promise.race([starting, over]);
    relay.errors.on("data", (chunk: Buffer) => {
      told = (told + chunk.toString()).slice(0, LONGEST_TEXT);
    });
    const working = work(relay);
    working.catch(() => {});
    return await Promise.race([working, over]);
  } catch (error) {
    if (error instanceof DeadlinePassed) return { isHealthy: false, output: `no answer within ${timeoutMs} ms` };
    if (relay === undefined) throw error;
    await relay.end();
    return { isHealthy: false, output: told.trim() || (error as Error).message };
  } finally {
    clearTimeout(timer);
    await starting.then(
      (one) => one.end(),
      () => {},
    );
  }
}

/** Like overRelay, but gives `work` the connection as one stream. */
export function overConnection(target: TcpCheck, probe: Probe, work: (connection: Duplex) => Promise<Checked>): Promise<Checked> {
  return overRelay("connect", target, probe, ({ input, output }) => {
    const connection = Duplex.from({ readable: output, writable: input });
    connection.on("error", () => {});
    return work(connection);
  });
}

class DeadlinePassed extends Error {}
