/** Forwards one connection of a local client to a port of a task. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { FRAME, FrameReader, frameOf } from "../../shared/frames/index.ts";
import { ClientError } from "../client.ts";

/** Resolves when the connection has ended; `local` is closed then. @throws ClientError: the connection could not be made, or was lost */
export async function forwardConnection(local: Socket, connect: () => Promise<Duplex>): Promise<void> {
  // A client that resets its connection does not need an error message.
  local.on("error", () => local.destroy());
  try {
    const remote = await connect();
    // The client has gone meanwhile: its "close" has been, and nothing else would end the connection to the daemon.
    if (local.destroyed) return void remote.destroy();
    await carried(local, remote);
    local.end();
  } catch (error) {
    local.destroy();
    throw error;
  }
}

function carried(local: Socket, remote: Duplex): Promise<void> {
  const reader = new FrameReader();
  return new Promise((resolve, reject) => {
    local.on("data", (chunk: Buffer) => {
      if (remote.destroyed || remote.write(frameOf(FRAME.stdin, chunk))) return;
      local.pause();
      remote.once("drain", () => local.resume());
    });
    local.once("end", () => {
      if (!remote.destroyed) remote.write(frameOf(FRAME.stdinEnd, Buffer.alloc(0)));
    });
    local.once("close", () => {
      remote.destroy();
      resolve();
    });
    remote.on("data", (chunk: Buffer) => {
      for (const { kind, payload } of reader.push(chunk)) {
        if (kind === FRAME.stdout && !local.write(payload)) {
          remote.pause();
          local.once("drain", () => remote.resume());
        } else if (kind === FRAME.end) resolve();
        else if (kind === FRAME.failed) {
          const { code, message } = JSON.parse(Buffer.from(payload).toString()) as { code: string; message: string };
          reject(new ClientError(code, message));
        }
      }
    });
    remote.once("error", () => {});
    remote.once("close", () => reject(new ClientError("stream-broken", "the daemon has gone away")));
  });
}
