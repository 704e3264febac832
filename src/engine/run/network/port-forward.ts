/** Opens a TCP connection from inside a task's network namespace, so that it reaches the loopback interface of the containers in any network mode. */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { lastLines } from "../../network/index.ts";

export interface ForwardTarget {
  /** IPv4 or IPv6 address, as seen from the network namespace. */
  readonly address: string;
  readonly port: number;
}

export interface Forwarded {
  /** Ending this stream half-closes the connection. */
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves when the connection is over: undefined if it ended normally, or else the reason why it failed. */
  readonly ended: Promise<string | undefined>;
  /** Closes the connection at once. Data in flight is lost. */
  close(): void;
}

/** Bytes of the relay's standard error to keep: its messages are short. */
const LONGEST_STDERR = 4096;

/** @param program path of runt-pause. @param namespace path of the network namespace */
export function forwardTo({ address, port }: ForwardTarget, program: string, namespace: string): Forwarded {
  const child = spawn(program, ["forward", namespace, address, String(port)], { stdio: "pipe", cwd: "/" });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < LONGEST_STDERR) stderr += chunk.toString();
  });
  // The relay may end before it has read all input; the write error is of no interest then.
  child.stdin.on("error", () => {});
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (status) => resolve(status === 0 ? undefined : lastLines(stderr) || "the connection has broken"));
  });
  return { input: child.stdin, output: child.stdout, ended, close: () => void child.kill("SIGKILL") };
}
