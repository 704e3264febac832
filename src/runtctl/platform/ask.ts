/** Requests over a unix socket by HTTP/1.1. */
import { utf8Encode } from "runt:client";
import { ChunkedBody } from "./chunked.ts";
import { Connection, type Patience } from "./connection.ts";
import { type Answer, ASK, askError, type Question } from "./contract.ts";
import { endOfHead, type Head, parseHead } from "./head.ts";

/** By socket: the connection of a read that has ended. The daemon has to find out who is at the other side of each new one. */
const idle = new Map<string, Connection>();

/** @throws Error with `code` (contract.ts) */
export async function ask(question: Question): Promise<Answer> {
  const { socketPath, method } = question;
  // A change gets a new connection, so that it is always known whether the daemon has received it.
  const kept = method === "GET" ? idle.get(socketPath) : undefined;
  if (kept === undefined) return askOn(Connection.to(socketPath), question);
  idle.delete(socketPath);
  try {
    return await askOn(kept, question);
  } catch (error) {
    // The daemon may have closed it in this moment.
    if ((error as { readonly code?: unknown }).code !== ASK.lost) throw error;
    return askOn(Connection.to(socketPath), question);
  }
}

/** A connection that speaks another protocol from here on, or the answer that refuses that. @throws Error with `code`, as `ask` */
export async function upgrade(socketPath: string, path: string, protocol: string): Promise<Connection | Answer> {
  const question: Question = { socketPath, method: "GET", path };
  const connection = Connection.to(socketPath);
  const patience = { silenceMs: undefined, end: undefined };
  try {
    await connection.ask(requestOf(question, protocol), patience);
    const head = await headOf(connection, patience, true);
    if (head.status === 101) return connection;
    return {
      status: head.status,
      body: bodyOf(connection, question, { ...head, isKept: false }, patience),
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function askOn(connection: Connection, question: Question): Promise<Answer> {
  const { silenceMs, isStream, end } = question;
  try {
    await connection.ask(requestOf(question), { silenceMs, end });
    const head = await headOf(connection, { silenceMs, end });
    const body = bodyOf(connection, question, head, { silenceMs: isStream ? undefined : silenceMs, end });
    return { status: head.status, body, close: () => connection.close() };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Answers before the one that counts. */
const MOST_INTERIM = 10;
const VISIBLE = /^[!-~]+$/;

function requestOf({ method, path, body }: Question, protocol?: string): Uint8Array {
  if (!VISIBLE.test(path)) throw new Error(`a path with other characters than a request may have: ${JSON.stringify(path)}`);
  const after = protocol !== undefined ? "Upgrade" : method === "GET" ? "keep-alive" : "close";
  const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost", `Connection: ${after}`];
  if (protocol !== undefined) lines.push(`Upgrade: ${protocol}`);
  const bytes = body === undefined ? undefined : new Uint8Array(utf8Encode(body));
  if (bytes !== undefined) lines.push("Content-Type: application/json", `Content-Length: ${bytes.length}`);
  else if (method !== "GET") lines.push("Content-Length: 0");
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
  return bytes === undefined ? head : Buffer.concat([head, bytes]);
}

/** Of the answer itself: those before it, which say that it takes time, are passed over. `mayChange`: another protocol may begin. */
async function headOf(connection: Connection, patience: Patience, mayChange = false): Promise<Head> {
  let bytes: Uint8Array = new Uint8Array(0);
  for (let interim = 0; interim <= MOST_INTERIM; ) {
    const end = endOfHead(bytes);
    if (end !== undefined) {
      const head = parseHead(Buffer.from(bytes).toString("latin1", 0, end));
      bytes = bytes.subarray(end);
      if (head.status === 101 && !mayChange) throw askError(ASK.garbled);
      if (head.status >= 200 || head.status === 101) {
        connection.giveBack(bytes);
        return head;
      }
      interim++;
      continue;
    }
    const more = await connection.receive(patience);
    if (more === undefined) throw askError(ASK.lost);
    bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
  }
  throw askError(ASK.garbled);
}

async function* bodyOf(
  connection: Connection,
  question: Question,
  { extent, isKept }: Head,
  patience: Patience,
): AsyncGenerator<Uint8Array> {
  let isWhole = false;
  try {
    if (extent === "chunked") yield* chunksOf(connection, patience);
    else yield* bytesOf(connection, extent, patience);
    isWhole = true;
  } finally {
    const { socketPath, method } = question;
    const isAgain = isWhole && isKept && method === "GET" && !connection.hasMore && !idle.has(socketPath);
    if (isAgain) idle.set(socketPath, connection);
    else connection.close();
  }
}

async function* chunksOf(connection: Connection, patience: Patience): AsyncGenerator<Uint8Array> {
  const body = new ChunkedBody();
  while (!body.isWhole) {
    const bytes = await connection.receive(patience);
    if (bytes === undefined) throw askError(ASK.lost);
    yield* body.push(bytes);
  }
}

/** @param extent "close": until the connection ends */
async function* bytesOf(connection: Connection, extent: number | "close", patience: Patience): AsyncGenerator<Uint8Array> {
  for (let left = extent === "close" ? Number.POSITIVE_INFINITY : extent; left > 0; ) {
    const bytes = await connection.receive(patience);
    if (bytes === undefined && extent === "close") return;
    if (bytes === undefined) throw askError(ASK.lost);
    connection.giveBack(bytes.subarray(left));
    const own = bytes.subarray(0, left);
    left -= own.length;
    yield own;
  }
}
