/** A TCP connection that begins in a task's network, so that it reaches the loopback interface of the containers in any network mode. */
import type { Readable, Writable } from "node:stream";
import type { RelayTarget, StartRelay } from "../../health/index.ts";
import { lastLines } from "../../network/index.ts";

export interface Forwarded {
  /** Ending this stream half-closes the connection. */
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves when the connection is over: undefined if it ended normally, or else the reason why it failed. */
  readonly ended: Promise<string | undefined>;
  /** Closes the connection at once. Data in flight is lost. */
  close(): Promise<void>;
}

/** Characters of the relay's errors to keep: its messages are short. */
const LONGEST_ERRORS = 4096;

/** @throws the errors of `start` */
export async function forwardTo(target: RelayTarget, start: StartRelay): Promise<Forwarded> {
  const relay = await start("forward", target);
  let errors = "";
  relay.errors.on("data", (chunk: Buffer) => {
    if (errors.length < LONGEST_ERRORS) errors += chunk.toString();
  });
  const ended = relay.ended.then(
    (status) => (status === 0 ? undefined : lastLines(errors) || "the connection has broken"),
    (error: Error) => error.message,
  );
  return { input: relay.input, output: relay.output, ended, close: () => relay.end() };
}
