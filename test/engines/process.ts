/** Run programs to their end, with a time limit, and keep what they print. */

import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { PATIENCE_MS } from "../support/patience.ts";

export interface Output {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Leave stdin open until the end: on a terminal its end would be typed in. */
  readonly openInput?: boolean;
  readonly timeout?: number;
  readonly cwd?: string;
}

const TIMEOUT_MS = PATIENCE_MS;
/** A container that lives on may hold the pipes open; what it prints after the client's end is not waited for. */
const DRAIN_MS = 300;

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Output>;
}

export function start(command: readonly string[], { env, input, openInput = false, timeout = TIMEOUT_MS, cwd }: CallOptions = {}): Running {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    stdio: ["pipe", "pipe", "pipe"],
    timeout,
    killSignal: "SIGKILL",
    ...(env ? { env } : {}),
    // conmon leaves a file named oom where it stands.
    cwd: cwd ?? tmpdir(),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.on("error", () => {});
  if (!openInput) child.stdin.end(input ?? "");
  const ended = new Promise<Output>((done) => {
    child.on("error", (error) => done({ status: 255, stdout, stderr: String(error) }));
    child.on("exit", (code, signal) => {
      const finish = () => done({ status: code ?? (signal === "SIGKILL" ? 137 : 255), stdout, stderr });
      child.on("close", finish);
      setTimeout(finish, DRAIN_MS);
    });
  });
  return { child, ended };
}

/** Milliseconds until a command prints its first byte. Its end is waited for, and has to be a good one. */
export async function firstByte(command: readonly string[], options?: CallOptions): Promise<number> {
  const began = performance.now();
  const { child, ended } = start(command, options);
  let first: number | undefined;
  child.stdout?.once("data", () => {
    first = performance.now() - began;
  });
  const { status, stderr } = await ended;
  if (status !== 0 || first === undefined) throw new Error(`${command.join(" ")}: status ${status}: ${stderr}`);
  return first;
}

export function call(command: readonly string[], options?: CallOptions): Promise<Output> {
  return start(command, options).ended;
}

export async function must(command: readonly string[], options?: CallOptions): Promise<Output> {
  const output = await call(command, options);
  if (output.status !== 0) throw new Error(`${command.join(" ")}: status ${output.status}: ${output.stderr || output.stdout}`);
  return output;
}
