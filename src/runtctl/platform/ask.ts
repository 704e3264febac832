/** HTTP/1.1 requests over a unix socket. */
import { utf8Encode } from "runt:client";
import { ChunkedBody } from "./chunked.ts";
import { Connection, type Patience } from "./connection.ts";
import { type Answer, ASK, askError, type Question } from "./contract.ts";
import { endOfHead, type Head, parseHead } from "./head.ts";

/**
 * Connections of finished reads, by socket path. They are used again, because the daemon starts a process to identify the peer of each new
 * connection.
 */
const idle = new Map<string, Connection>();

/** Sends a request, and returns the answer. @throws Error with `code` (contract.ts) */
export async function ask(question: Question): Promise<Answer> {
  const { socketPath, method } = question;
  // A change gets a new connection, because on a used one it might be unknown whether the daemon has received the change.
  const kept = method === "GET" ? idle.get(socketPath) : undefined;
  if (kept === undefined) return askOn(Connection.to(socketPath), question);
  idle.delete(socketPath);
  try {
    return await askOn(kept, question);
  } catch (error) {
    // The daemon may have closed the connection in this moment.
    if ((error as { readonly code?: unknown }).code !== ASK.lost) throw error;
    return askOn(Connection.to(socketPath), question);
  }
}

/** Returns a connection that uses another protocol from here on, or the answer that refuses it. @throws Error with `code`, like `ask` */
export async function upgrade(
  { socketPath, path, method }: Pick<Question, "socketPath" | "path" | "method">,
  protocol: string,
): Promise<Connection | Answer> {
  const question: Question = { socketPath, method, path };
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

/** Maximum number of interim answers (status 1xx) before the final one. */
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

/** Head of the final answer; interim answers (status 1xx) are skipped. @param mayChange whether the answer may switch to another protocol */
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

/** @param extent length in bytes; "close": the body ends with the connection */
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
