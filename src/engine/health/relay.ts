/**
 * Starts the process that makes one TCP connection from inside a task, and passes it on by its standard streams: runt-pause
 * (native-bindings/pause/connect.c).
 */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export interface RelayTarget {
  /** IPv4 or IPv6 address, as seen from inside the task. */
  readonly address: string;
  readonly port: number;
}

/**
 * reach: the process ends as soon as there is a connection. connect: it ends with the connection. forward: like connect, but the end of its input
 * ends only one direction of the connection.
 */
export type RelayVerb = "reach" | "connect" | "forward";

export interface Relay {
  readonly input: Writable;
  readonly output: Readable;
  /** Messages that say why there is no connection, or why it was lost. */
  readonly errors: Readable;
  /** Exit status of the process, when it has ended and `errors` was read to the end; null: it was killed. */
  readonly ended: Promise<number | null>;
  /** Kills the process if it has not ended. Resolves when it has ended. */
  end(): Promise<void>;
}

/** Starts the process. It may be killed after `timeoutMs`. @throws the errors of the program that starts it */
export type StartRelay = (verb: RelayVerb, target: RelayTarget, timeoutMs?: number) => Promise<Relay>;

/** Runs the relay on this host: it enters a network namespace. @param program path of runt-pause. @param namespace path of the namespace */
export function relayIn(namespace: string, program: string): StartRelay {
  return async (verb, { address, port }) => {
    // runProgram (src/node) collects the output of a program, but these streams are the connection.
    const child = spawn(program, [verb, namespace, address, String(port)], { stdio: "pipe", cwd: "/" });
    const exit = new Promise<number | null>((resolve) => child.once("exit", (status) => resolve(status)));
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    // The process may end before it has read all input. The write error has no further meaning then.
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

/** Resolves when the stream is closed. */
export function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => (stream.closed ? resolve() : stream.once("close", resolve)));
}
