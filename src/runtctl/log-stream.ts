/** Reads records of a container's log from the daemon. */
import { linesOf, placedLines } from "../client/protocol/index.ts";
import { type LogRecord, parseRecord } from "../engine/index.ts";
import { FRAME, FrameReader } from "../shared/frames/index.ts";
import { ClientError } from "./client.ts";
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

/** Output of a container to one stream, unchanged. */
export interface LogPiece {
  readonly isError: boolean;
  readonly bytes: Uint8Array;
}

/**
 * Yields the log in pieces of many lines, which is much faster than single records. With `follows` it continues like followLog. Resolves with the
 * first response of the daemon.
 * @throws ClientError
 */
export async function logPieces(session: Session, id: string, request: LogRequest, follows: boolean): Promise<AsyncGenerator<LogPiece>> {
  const query = { ...request, format: "frames", places: "true" };
  if (follows) return untilOver(session, id, query, placedPieces, { isError: true, bytes: Buffer.from(`[log] ${GONE}\n`) });
  const stream = await session.client.stream(inTask(session, id, "logs", query));
  return (async function* () {
    for await (const { value } of placedPieces(stream)) yield value;
  })();
}

/**
 * Yields records until the container has stopped for good. Reconnects if the daemon was restarted, without losing or repeating a record.
 * Resolves with the first response of the daemon. @throws ClientError
 */
export async function followLog(session: Session, id: string, request: LogRequest): Promise<AsyncGenerator<LogRecord>> {
  const gone = { time: "", stream: "runt", isPart: false, bytes: Buffer.from(GONE) } as const;
  return untilOver(session, id, { ...request, format: "records", places: "true" }, placedRecords, gone);
}

const GONE = "the task is gone: what it has printed at last was not read";

/** A value and the position in the log after it, from which reading can continue; "-": the position is unknown. */
interface Placed<T> {
  readonly place: string;
  readonly value: T;
}

async function* placedPieces(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Placed<LogPiece>> {
  const reader = new FrameReader();
  for await (const chunk of stream) {
    for (const { kind, payload } of framesIn(reader, chunk)) {
      const end = payload.indexOf(BLANK);
      const place = Buffer.from(payload.subarray(0, end)).toString("latin1");
      yield { place, value: { isError: kind !== FRAME.stdout, bytes: payload.subarray(end + 1) } };
    }
  }
}

/** @throws ClientError: the data is no frame */
function framesIn(reader: FrameReader, chunk: Uint8Array): ReturnType<FrameReader["push"]> {
  try {
    return reader.push(chunk);
  } catch (error) {
    throw new ClientError("no-daemon", `what answers is no runtd: it sends ${(error as Error).message}`);
  }
}

async function* placedRecords(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Placed<LogRecord>> {
  for await (const { place, line } of placedLines(stream)) yield { place, value: parseRecord(line) };
}

async function untilOver<T>(
  session: Session,
  id: string,
  query: Readonly<Record<string, string | undefined>>,
  read: (stream: AsyncIterable<Uint8Array>) => AsyncGenerator<Placed<T>>,
  gone: T,
): Promise<AsyncGenerator<T>> {
  const ask = (from: string | undefined) => session.client.stream(inTask(session, id, "logs", { ...query, from, follow: "true" }));
  const first = await ask(undefined);
  return (async function* () {
    let from: string | undefined;
    for (let stream: AsyncIterable<Uint8Array> | undefined = first; stream !== undefined; stream = await untilAnswered(() => ask(from))) {
      try {
        for await (const { place, value } of read(stream)) {
          if (place !== "-") from = place;
          yield value;
        }
        return;
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== ASK.lost) throw error;
      }
    }
    yield gone;
  })();
}

/** Repeats the request while the daemon does not answer. undefined: the task was removed in the meantime. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T | undefined> {
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
