/** Reads records of a container's log from the daemon. */
import { type LogRecord, parseRecord } from "../engine/index.ts";
import { ClientError } from "./client.ts";
import { linesOf } from "./output/log-records.ts";
import { ASK, sleep } from "./platform/index.ts";
import type { Session } from "./session.ts";
import { inTask } from "./tasks.ts";

/** Query parameters; undefined ones are left out. */
export type LogRequest = Readonly<Record<"container" | "since" | "tail" | "previous", string | undefined>>;

const RETRY_MS = 200;
const BLANK = 0x20;

/** Yields the existing records. Resolves when the daemon has answered. @throws ClientError */
export async function readLog({ client, ...session }: Session, id: string, request: LogRequest): Promise<AsyncGenerator<LogRecord>> {
  const stream = await client.stream(inTask({ client, ...session }, id, "logs", { ...request, format: "records" }));
  return (async function* () {
    for await (const line of linesOf(stream)) yield parseRecord(line);
  })();
}

/**
 * Yields records until the container has stopped for good. Reconnects if the daemon was restarted, without losing or repeating a record.
 * Resolves with the first response of the daemon. @throws ClientError
 */
export async function followLog(session: Session, id: string, request: LogRequest): Promise<AsyncGenerator<LogRecord>> {
  const ask = (from: string | undefined) =>
    session.client.stream(inTask(session, id, "logs", { ...request, from, follow: "true", format: "records", places: "true" }));
  const first = await ask(undefined);
  return (async function* () {
    let from: string | undefined;
    for (let stream: AsyncIterable<Uint8Array> | undefined = first; stream !== undefined; stream = await again(() => ask(from))) {
      try {
        for await (const line of linesOf(stream)) {
          const end = line.indexOf(BLANK);
          const place = line.toString("latin1", 0, end);
          if (place !== "-") from = place;
          yield parseRecord(line.subarray(end + 1));
        }
        return;
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== ASK.lost) throw error;
      }
    }
    yield { time: "", stream: "runt", isPart: false, bytes: Buffer.from("the task is gone: what it has printed at last was not read") };
  })();
}

/** undefined if the task was removed in the meantime. */
async function again<T>(ask: () => Promise<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const code = error instanceof ClientError ? error.code : undefined;
      if (code === "unknown-task") return undefined;
      if (code !== "unreachable") throw error;
    }
    await sleep(RETRY_MS);
  }
}
