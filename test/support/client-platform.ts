/**
 * Stands for src/runtctl/platform in unit tests, which run on Node (vitest.config.ts): requests by node:http, files, output, time. What the tests do not use
 * (terminals, connections that change their protocol, local ports) is tried with bin/runtctl only, in test/engine.
 */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { availableParallelism, hostname, totalmem } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, ASK, askError, type End, type Output, type Question } from "../../src/runtctl/platform/contract.ts";

export { type Answer, ASK, type End, hostname, type Output, type Question };

export const version = "0.0.0";
export const words = () => process.argv.slice(2);
export const ownPid = () => process.pid;
export const environment = () => process.env;
export const variable = (name: string) => process.env[name];
export const cpuCount = availableParallelism;
export const memoryBytes = totalmem;
export const exists = existsSync;
export const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
export const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
export const namesIn = (path: string) => readdirSync(path).sort();
export const workingDirectory = () => process.cwd();
export const absolutePath = (path: string) => (path.startsWith("/") ? path : `${process.cwd()}/${path}`);
export const makeDirectory = (path: string) => void mkdirSync(path, { recursive: true });
export const windowSize = () => undefined;

const onlyInTheExecutable = (): never => {
  throw new Error("it is there in bin/runtctl only");
};

export {
  onlyInTheExecutable as atExit,
  onlyInTheExecutable as Connection,
  onlyInTheExecutable as exit,
  onlyInTheExecutable as giveBackTerminal,
  onlyInTheExecutable as isTerminal,
  onlyInTheExecutable as listenAt,
  onlyInTheExecutable as newFile,
  onlyInTheExecutable as onSignals,
  onlyInTheExecutable as raise,
  onlyInTheExecutable as readStdin,
  onlyInTheExecutable as run,
  onlyInTheExecutable as takeTerminal,
  onlyInTheExecutable as upgrade,
};

/** Returns early at the end. */
export async function sleep(milliseconds: number, end?: End): Promise<void> {
  await delay(milliseconds, undefined, { signal: end as AbortSignal | undefined }).catch(() => {});
}

export function endIn(milliseconds: number): End {
  return AbortSignal.timeout(milliseconds);
}

/** Options of every request. Without a `servername` the agent works out one for TLS, which takes 4 ms in a new process. */
function connectionOptions(socketPath: string, path: string): RequestOptions & { readonly servername: "" } {
  return { socketPath, path, servername: "" };
}

/** @throws Error with `code` (contract.ts) */
export function ask(question: Question): Promise<Answer> {
  const { socketPath, method, path, body, silenceMs, isStream, end } = question;
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    // A change gets a new connection, so that it is always known whether the daemon has received it.
    const agent = method === "GET" ? undefined : new Agent();
    const signal = end as AbortSignal | undefined;
    const call = request({ ...connectionOptions(socketPath, path), method, headers, timeout: silenceMs, agent, signal }, (response) => {
      if (isStream) response.socket.setTimeout(0);
      resolve({ status: response.statusCode ?? 0, body: bodyOf(response, clear), close: () => void response.destroy() });
    });
    // What was known first: after it the body only says that it was cut off.
    let failure: Error | undefined;
    const clear = (error: unknown) => {
      failure ??= clearError(error as NodeJS.ErrnoException);
      return failure;
    };
    call.on("timeout", () => {
      failure = askError(ASK.silent, silenceMs);
      call.destroy();
    });
    call.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(askError(ASK.garbled));
    });
    call.on("error", (error: NodeJS.ErrnoException) => {
      // The daemon may have closed an idle connection in the moment in which it was used again (http.ClientRequest.reusedSocket).
      const isStale = call.reusedSocket && failure === undefined && ["ECONNRESET", "EPIPE"].includes(error.code ?? "");
      if (isStale) ask(question).then(resolve, reject);
      else reject(clear(error));
    });
    call.end(body);
  });
}

async function* bodyOf(response: IncomingMessage, clear: (error: unknown) => Error): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) yield chunk as Uint8Array;
  } catch (error) {
    throw clear(error);
  }
}

/** Node's own names and texts for these differ by its version and by the moment. */
function clearError(error: NodeJS.ErrnoException): Error {
  const code = error.code ?? "";
  if (code.startsWith("HPE_")) return askError(ASK.garbled);
  if (code === "ABORT_ERR") return askError(ASK.ended);
  return code === "ECONNRESET" || code === "EPIPE" ? askError(ASK.lost) : error;
}

const STDIN = 0;
const PIECE = 64 * 1024;

/** At most `most` bytes, and one more if there are more. @throws the errors of openSync and readSync */
export function readFile(path: string, most: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    return readAll(file, most);
  } finally {
    closeSync(file);
  }
}

/** Absolute, without links. undefined: it has no path, such as a pipe. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The standard input, likewise. */
export function readInput(most: number): Uint8Array {
  return readAll(STDIN, most);
}

function readAll(file: number, most: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let left = most + 1; left > 0; ) {
    const piece = new Uint8Array(Math.min(PIECE, left));
    const length = readSync(file, piece);
    if (length === 0) break;
    pieces.push(piece.subarray(0, length));
    left -= length;
  }
  return Buffer.concat(pieces);
}

/** As in errors.ts. */
const FAILED = 1;

class Stream implements Output {
  readonly #of: () => NodeJS.WriteStream;
  #taken: NodeJS.WriteStream | undefined;

  constructor(of: () => NodeJS.WriteStream) {
    this.#of = of;
  }

  /** Node opens it when it is asked for. */
  get #stream(): NodeJS.WriteStream {
    this.#taken ??= this.#of().on("error", broken);
    return this.#taken;
  }

  get isTTY(): boolean {
    return this.#stream.isTTY === true;
  }

  get columns(): number | undefined {
    return this.#stream.columns;
  }

  write(text: string): void {
    this.#stream.write(text);
  }

  async send(bytes: Uint8Array): Promise<void> {
    const stream = this.#stream;
    // Both may be the same pipe, and Node has a queue for each.
    if (last.of !== this) await last.written;
    let isTaken = true;
    const written = new Promise<void>((resolve) => {
      isTaken = stream.write(bytes, () => resolve());
    });
    last = { of: this, written };
    if (!isTaken) await written;
  }
}

/** What was sent last. */
let last: { readonly of: Output | undefined; readonly written: Promise<void> } = { of: undefined, written: Promise.resolve() };

function broken({ code }: NodeJS.ErrnoException): void {
  if (code !== "EPIPE") process.stderr.write(`runtctl: the output cannot be written: ${code}\n`);
  process.exit(FAILED);
}

export const stdout: Output = new Stream(() => process.stdout);
export const stderr: Output = new Stream(() => process.stderr);

export function print(line: string): void {
  stdout.write(`${line}\n`);
}

export function printError(line: string): void {
  stderr.write(`${line}\n`);
}
