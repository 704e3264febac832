/** Forwards one connection of a local client to a port of a task. */
import { FRAME, FrameReader, frameOf } from "../../shared/frames/index.ts";
import { ClientError } from "../client.ts";
import type { Connection } from "../platform/index.ts";
import { failureIn } from "./streams.ts";

/** Returns when the connection has ended; `local` is closed then. @throws ClientError: the connection could not be made, or was lost */
export async function forwardConnection(local: Connection, connect: () => Promise<Connection>): Promise<void> {
  let remote: Connection | undefined;
  try {
    remote = await connect();
    const sent = sendAll(local, remote);
    await receiveAll(local, remote);
    local.endSending();
    await sent;
  } finally {
    remote?.close();
    local.close();
  }
}

/** Returns when the client sends nothing more. One that has gone closes both, and needs no error message. */
async function sendAll(local: Connection, remote: Connection): Promise<void> {
  for (let chunk = await local.receive(); chunk !== undefined; chunk = await local.receive())
    await remote.send(frameOf(FRAME.stdin, chunk));
  if (local.isReset) {
    local.close();
    remote.close();
  }
  await remote.send(frameOf(FRAME.stdinEnd, new Uint8Array(0)));
}

/** Returns when the port sends nothing more, or the client has gone. @throws ClientError */
async function receiveAll(local: Connection, remote: Connection): Promise<void> {
  const reader = new FrameReader();
  for (;;) {
    const chunk = await remote.receive();
    if (chunk === undefined && !local.isOpen) return;
    if (chunk === undefined) throw new ClientError("stream-broken", "the daemon has gone away");
    for (const { kind, payload } of reader.push(chunk)) {
      if (kind === FRAME.stdout) await local.send(payload);
      else if (kind === FRAME.end) return;
      else if (kind === FRAME.failed) {
        const { code, message } = failureIn(payload);
        throw new ClientError(code, message);
      }
    }
  }
}
