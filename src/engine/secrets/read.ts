/** Reads a secret from its source. Errors contain nothing of the secret. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { runProgram } from "../../node/index.ts";

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

/** Standard error of the program is not read, because it may contain parts of the secret. */
async function programOutput([program, ...args]: readonly [string, ...string[]], signal: AbortSignal): Promise<Buffer> {
  const { stdout, message, error } = await runProgram(program, args, {
    ...{ timeoutMs: PROGRAM_MS, mostOutput: LARGEST, signal, isSecret: true },
    stdio: ["ignore", "pipe", "ignore"],
  });
  if (message === "" && !signal.aborted) return stdout;
  stdout.fill(0);
  signal.throwIfAborted();
  throw new SecretError(message, { cause: error });
}

// A secret is read each time it is needed. The engine stores no secrets.

/** A file of the host, or the standard output of a program, given by path and arguments. */
export type SecretSource = { readonly file: string } | { readonly exec: readonly [program: string, ...args: string[]] };

export class SecretError extends Error {
  override readonly name = "SecretError";
  readonly code = "no-secret";
}

/** Replaces secrets in messages of other programs: a registry may send back what it received. Pure. */
const HIDDEN = "[hidden]";
/** In characters. Shorter secrets would match anywhere. */
const SHORTEST = 4;

/** Replaces each secret in the text, also in its base64 and URL encodings. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .flatMap((secret) => [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
    .reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text);
}
