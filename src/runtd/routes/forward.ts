import { z } from "zod";
import type { Forwarded } from "../../engine/index.ts";
import { FRAME } from "../../shared/frames/index.ts";
import { streamRoute } from "../http/route.ts";
import { factsOf, log } from "../log.ts";
import { inGroup, taskParams } from "../schemas/names.ts";
import type { FrameStream } from "../streams/frame-stream.ts";

export const forwardPort = streamRoute({
  method: "get",
  path: "/v1/tasks/{name}/forward",
  operation: "forwardPort",
  access: "admin",
  summary: "Forward this connection to a TCP port in the network of a task",
  description:
    "The request needs `Connection: Upgrade` and `Upgrade: runtd-stream/1`. The frames are those of `execInTask`, without the first one of the client. The daemon sends 16; data that the client sends as 1 goes to the port, " +
    "2 ends that direction. The daemon sends 17 for data from the port, and 19 (exitCode 0) at its end. 20: no program listens there, or the connection has broken.",
  params: taskParams,
  query: inGroup.extend({
    port: z.coerce.number().pipe(z.int().min(1).max(65_535)),
    address: z.union([z.ipv4(), z.ipv6()]).default("127.0.0.1").describe("Address in the network of the task."),
    container: z.string().optional().describe("The container whose network to use, if each has its own. Default: the first running one."),
  }),
  answer: { status: 101, description: "The connection now carries frames" },
  errors: ["unknown-task", "unknown-container", "container-not-running", "upgrade-required", "too-many"],
  open({ engine, params: { name }, query: { group, container, port, address } }) {
    engine.forwardable(name, group, container);
    return (stream) => forwardOn(stream, () => engine.forward(name, group, container, { port, address }));
  },
});

/** Connects a client to a port in the network of a task. */

/** Runs until the connection to the port ends or the client disconnects. */
async function forwardOn(stream: FrameStream, connect: () => Promise<Forwarded>): Promise<void> {
  try {
    const { input, output, ended, close } = await connect();
    void stream.gone.then(close).catch((error) => log("error", "connection-not-closed", factsOf(error)));
    stream.send(FRAME.started);
    stream.onFrame(({ kind, payload }) => {
      if (kind === FRAME.stdinEnd) input.end();
      else if (kind !== FRAME.stdin) throw new Error(`a frame of kind ${kind} is not for a port`);
      else stream.writeTo(input, payload);
    });
    const copied = stream.sendAll(FRAME.stdout, output).catch(() => {});
    const end = await Promise.race([copied.then(() => ended).then((broken) => ({ broken })), stream.gone]);
    // The relay is being ended because the client has disconnected: its remaining output is dropped, also if the relay does not end.
    if (end === undefined) {
      output.destroy();
      return;
    }
    const { broken } = end;
    if (broken === undefined) stream.send(FRAME.end, JSON.stringify({ exitCode: 0 }));
    else stream.send(FRAME.failed, JSON.stringify({ code: "not-connected", message: broken, exitStatus: 1 }));
  } catch (error) {
    log("error", "forward-failed", factsOf(error));
    stream.send(FRAME.failed, JSON.stringify({ code: "internal", message: (error as Error).message, exitStatus: 1 }));
  } finally {
    stream.end();
  }
}
