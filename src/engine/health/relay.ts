/** The process that makes one TCP connection, where it has to begin, and hands it on by its standard streams: runt-pause (native-bindings/pause/connect.c). */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export interface RelayTarget {
  /** IPv4 or IPv6 address, as seen from where the connection begins. */
  readonly address: string;
  readonly port: number;
}

/** reach: it ends as soon as there is a connection. connect: it ends with the connection. forward: so, too, and the end of its input is that of one direction. */
export type RelayVerb = "reach" | "connect" | "forward";

export interface Relay {
  readonly input: Writable;
  readonly output: Readable;
  /** Why there is no connection, or why it has broken. */
  readonly errors: Readable;
  /** Its exit status, when it has ended and `errors` has been read; null: it was killed. */
  readonly ended: Promise<number | null>;
  /** Kills it, if it has not ended. Resolves when it is gone. */
  end(): Promise<void>;
}

/** Starts it. It may be killed when the time is over. @throws the errors of the program that starts it */
export type StartRelay = (verb: RelayVerb, target: RelayTarget, timeoutMs?: number) => Promise<Relay>;

/** Of this host: it enters a network namespace. @param program path of runt-pause. @param namespace path of the namespace */
export function relayIn(namespace: string, program: string): StartRelay {
  return async (verb, { address, port }) => {
    // No runProgram (src/node): its streams are the connection.
    const child = spawn(program, [verb, namespace, address, String(port)], { stdio: "pipe", cwd: "/" });
    const exit = new Promise<number | null>((resolve) => child.once("exit", (status) => resolve(status)));
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    // It may end before it has read all input; the write error is of no interest then.
    child.stdin.on("error", () => {});
    const ended = Promise.all([exit, closed(child.stderr)]).then(([status]) => status);
    const end = async () => {
      child.kill("SIGKILL");
      child.stderr.resume();
      await ended;
    };
    return { input: child.stdin, output: child.stdout, errors: child.stderr, ended, end };
  };
}

/** Resolves when nothing more comes. */
export function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => (stream.closed ? resolve() : stream.once("close", resolve)));
}
