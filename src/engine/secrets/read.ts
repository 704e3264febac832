/** Reads a secret from its source. Errors contain nothing of the secret. */
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { killGroup } from "../own/index.ts";
import { SecretError, type SecretSource } from "./source.ts";

/** In bytes; larger secrets are refused. */
const LARGEST = 1 << 20;
const PROGRAM_MS = 30_000;

/** `signal` cancels the read. @throws SecretError: the secret cannot be read; the reason of `signal` */
export async function readSecret(source: SecretSource, signal: AbortSignal): Promise<Buffer> {
  signal.throwIfAborted();
  return "file" in source ? readSecretFile(source.file) : programOutput(source.exec, signal);
}

async function readSecretFile(path: string): Promise<Buffer> {
  try {
    // O_NONBLOCK prevents opening a FIFO or device from blocking forever.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new SecretError(`${path} is no regular file`);
      if (found.size > LARGEST) throw new SecretError(`${path} is larger than ${LARGEST} bytes`);
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof SecretError) throw error;
    throw new SecretError((error as Error).message, { cause: error });
  }
}

/**
 * Runs the program in a process group of its own, so that its children are killed with it.
 * Its standard error is not reported, because it may contain parts of the secret.
 */
function programOutput([program, ...args]: readonly [string, ...string[]], signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], detached: true, cwd: "/" });
    const chunks: Buffer[] = [];
    let size = 0;
    let why: string | undefined;
    const kill = (reason: string) => {
      why ??= reason;
      child.stdout.destroy();
      killGroup(child);
    };
    const leave = () => kill("nobody wants it any more");
    signal.addEventListener("abort", leave);
    const timer = setTimeout(() => kill(`has not ended within ${PROGRAM_MS / 1000} s`), PROGRAM_MS);
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    };
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST) kill(`has printed more than ${LARGEST} bytes`);
      else chunks.push(chunk);
    });
    child.once("error", (error) => {
      settle();
      reject(new SecretError(`${program} could not be started: ${error.message}`, { cause: error }));
    });
    child.once("close", (code, ended) => {
      settle();
      const bytes = Buffer.concat(chunks);
      for (const chunk of chunks) chunk.fill(0);
      if (signal.aborted) return reject(signal.reason);
      if (why === undefined && code === 0) return resolve(bytes);
      bytes.fill(0);
      reject(new SecretError(`${program} ${why ?? (ended === null ? `has failed (${code})` : `was ended by ${ended}`)}`));
    });
  });
}
