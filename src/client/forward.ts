/** A connection to a port in the network of a task, through the daemon. */
import { Duplex } from "node:stream";
import { FRAME } from "../shared/frames/index.ts";
import { FrameConnection, quiet } from "./frames.ts";
import type { Limit } from "./limit.ts";
import { failureIn, noDaemon, type Sockets } from "./protocol/index.ts";
import type { Question } from "./transport.ts";

/** Returns when the daemon connects to the port. If no program listens there, the stream fails with "not-connected". @throws ClientError; the reason of the limit's signal */
export async function openForward(sockets: Sockets, question: Question, limit: Limit): Promise<Duplex> {
  const connection = await FrameConnection.open(sockets, question, limit);
  const duplex: Duplex = new Duplex({
    read: () => connection.taken(duplex),
    write: (chunk, _, done) => connection.send(FRAME.stdin, chunk, done),
    final: (done) => connection.send(FRAME.stdinEnd, "", done),
    destroy(error, done) {
      connection.close();
      done(error);
    },
  });
  quiet(duplex);
  let isStarted = false;
  await new Promise<void>((resolve, reject) => {
    connection.receive(
      ({ kind, payload }) => {
        if (kind === FRAME.started) {
          isStarted = true;
          resolve();
        } else if (kind === FRAME.stdout) connection.push(duplex, payload);
        else if (kind === FRAME.failed) connection.fail(failureIn(payload));
        else if (kind === FRAME.end && !isStarted) connection.fail(noDaemon("it sends an end before the start"));
        else if (kind === FRAME.end) {
          connection.close();
          duplex.push(null);
          duplex.end();
        }
      },
      (error) => {
        reject(error);
        duplex.destroy(error);
      },
    );
  });
  limit.answered();
  return duplex;
}
