/** Reads a secret from its source. Errors contain nothing of the secret. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { hasServer, runProgram, untilAnswered } from "../../node/index.ts";

/** In bytes; larger secrets are refused. */
const LARGEST = 1 << 20;
const READ_MS = 30_000;

/** `signal` cancels the read. @param timeoutMs the bound of the read. @throws SecretError: the secret cannot be read; the reason of `signal` */
export async function readSecret(source: SecretSource, signal: AbortSignal, timeoutMs = READ_MS): Promise<Buffer> {
  signal.throwIfAborted();
  return "file" in source ? readSecretFile(source.file, signal, timeoutMs) : programOutput(source.exec, signal, timeoutMs);
}

async function readSecretFile(path: string, signal: AbortSignal, timeoutMs: number): Promise<Buffer> {
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  signal.addEventListener("abort", end);
  const late = new SecretError(`${path} was not read within ${timeoutMs / 1000} s`);
  const timer = setTimeout(() => ending.abort(late), timeoutMs);
  const ended = new Promise<never>((_, reject) => ending.signal.addEventListener("abort", () => reject(ending.signal.reason)));
  ended.catch(() => {});
  let read: Promise<Buffer> | undefined;
  try {
    read = hasServer(path) ? readInChild(path, ending.signal, timeoutMs) : readHere(path);
    return await Promise.race([read, ended]);
  } catch (error) {
    if (ending.signal.aborted) {
      read?.then(
        (bytes) => bytes.fill(0),
        () => {},
      );
      throw ending.signal.reason;
    }
    if (error instanceof SecretError) throw error;
    throw new SecretError((error as Error).message, { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

async function readHere(path: string): Promise<Buffer> {
  // O_NONBLOCK prevents opening a FIFO or device from blocking forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new SecretError(`${path} is no regular file`);
    if (found.size > LARGEST) throw tooLarge(path);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Says on standard error what is wrong, and nothing of the secret. */
const READ = `[ -e "$1" ] || { echo "$1 is not there" >&2; exit 1; }
[ -f "$1" ] || { echo "$1 is no regular file" >&2; exit 1; }
exec head -c "$2" -- "$1"`;

/** A file on a mount whose server may not answer. Node reads files in four threads, and each read that waits for the server would occupy one of them. */
async function readInChild(path: string, signal: AbortSignal, timeoutMs: number): Promise<Buffer> {
  await untilAnswered([path], { signal });
  const args = ["-c", READ, "sh", path, String(LARGEST + 1)];
  const { stdout, stderr, message } = await runProgram("sh", args, { timeoutMs, signal, isSecret: true, mostOutput: 2 * LARGEST });
  if (message === "" && stdout.length <= LARGEST) return stdout;
  stdout.fill(0);
  throw message === "" ? tooLarge(path) : new SecretError(stderr.trim() || message);
}

function tooLarge(path: string): SecretError {
  return new SecretError(`${path} is larger than ${LARGEST} bytes`);
}

/** Standard error of the program is not read, because it may contain parts of the secret. */
async function programOutput([program, ...args]: readonly [string, ...string[]], signal: AbortSignal, timeoutMs: number): Promise<Buffer> {
  const { stdout, message, error } = await runProgram(program, args, {
    ...{ timeoutMs, mostOutput: LARGEST, signal, isSecret: true },
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
