/** Connects a client to a port in the network of a task. */
import type { Forwarded } from "../../engine/index.ts";
import { FRAME } from "../../shared/frames/index.ts";
import { factsOf, log } from "../log.ts";
import type { FrameStream } from "./frame-stream.ts";

/** Runs until the connection to the port ends or the client disconnects. */
export async function forwardOn(stream: FrameStream, connect: () => Promise<Forwarded>): Promise<void> {
  try {
    const { input, output, ended, close } = await connect();
    void stream.gone.then(close).catch((error) => log("error", "connection-not-closed", factsOf(error)));
    stream.send(FRAME.started);
    stream.onFrame(({ kind, payload }) => {
      if (kind === FRAME.stdinEnd) input.end();
      else if (kind !== FRAME.stdin) throw new Error(`a frame of kind ${kind} is not for a port`);
      else stream.writeTo(input, payload);
    });
    // The relay was ended because the client has disconnected: its remaining output is dropped.
    await stream.sendAll(FRAME.stdout, output).catch(() => {});
    const broken = await ended;
    if (broken === undefined) stream.send(FRAME.end, JSON.stringify({ exitCode: 0 }));
    else stream.send(FRAME.failed, JSON.stringify({ code: "not-connected", message: broken, exitStatus: 1 }));
  } catch (error) {
    log("error", "forward-failed", factsOf(error));
    stream.send(FRAME.failed, JSON.stringify({ code: "internal", message: (error as Error).message, exitStatus: 1 }));
  } finally {
    stream.end();
  }
}
