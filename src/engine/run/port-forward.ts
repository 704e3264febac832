/** A TCP connection that begins in the network of a task: whatever its mode is, loopback there is that of its containers. */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { lastLines } from "../network/index.ts";

export interface ForwardTarget {
  /** Of the network namespace: an address of IPv4 or IPv6. */
  readonly address: string;
  readonly port: number;
}

export interface Forwarded {
  /** Its end is the end of what is sent. */
  readonly input: Writable;
  readonly output: Readable;
  /** undefined: the connection has ended. Else why there was none, or why it has broken. */
  readonly ended: Promise<string | undefined>;
  /** Whatever is on its way is dropped. */
  close(): void;
}

/** What the relay says of an error is short. */
const LONGEST_STDERR = 4096;

/** @param program runt-pause. @param namespace file of the network namespace */
export function forwardTo({ address, port }: ForwardTarget, program: string, namespace: string): Forwarded {
  const child = spawn(program, ["forward", namespace, address, String(port)], { stdio: "pipe", cwd: "/" });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < LONGEST_STDERR) stderr += chunk.toString();
  });
  // It may have ended without having read all of it.
  child.stdin.on("error", () => {});
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (status) => resolve(status === 0 ? undefined : lastLines(stderr) || "the connection has broken"));
  });
  return { input: child.stdin, output: child.stdout, ended, close: () => void child.kill("SIGKILL") };
}
