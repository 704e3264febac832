/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
/** A program in a container, with its streams on a connection to the daemon. */
import { Readable, Writable } from "node:stream";
import { FRAME, type Frame } from "../shared/frames/index.ts";
import { FrameConnection, quiet } from "./frames.ts";
import type { Limit } from "./limit.ts";
import { ClientError, failureIn, frameObject, noDaemon, type Sockets } from "./protocol/index.ts";
import type { Question } from "./transport.ts";

/** How a program has ended. */
export interface ProgramEnd {
  /** 128 + N if signal N ended it; null: unknown. */
  readonly exitCode: number | null;
}

/** What a program has printed, and how it has ended. */
export type Output<E extends ProgramEnd> = E & { readonly stdout: Buffer; readonly stderr: Buffer };

/**
 * A program that runs. Both streams must be read: a full one stops the program and the other stream. Closing it disconnects: a program of `exec` gets SIGHUP and ten
 * seconds later SIGKILL, one in a pool is killed, and a container that was attached to goes on.
 */
export interface Program<E extends ProgramEnd = ProgramEnd> extends AsyncDisposable {
  /** undefined: the request has no `stdin`. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  /** Empty with a terminal, whose output is stdout. */
  readonly stderr: Readable;
  /** How it has ended. @throws ClientError "stream-broken": the daemon has gone away; the reason of the signal that has ended the call */
  wait(): Promise<E>;
  /** Everything that it prints from now on, until its end. @throws as `wait`; ClientError "too-much-output": it is closed then; "invalid-argument" */
  output(limits?: { readonly maxBytes?: number }): Promise<Output<E>>;
  /** Sends a signal by its name, such as "SIGTERM". Only programs of `exec` take signals. */
  signal(name: string): void;
  /** Sets the size of its terminal. */
  resize(size: { readonly rows: number; readonly columns: number }): void;
  /** Disconnects. `wait` fails with "stream-broken", unless the program has ended. */
  close(): void;
}

export interface Opening {
  readonly hasStdin: boolean;
  /** JSON of the first frame; undefined: the daemon sends first. */
  readonly start?: string | undefined;
  /** Contents of files, which follow the first frame. */
  readonly files?: readonly Uint8Array[];
}

/** Returns when the program runs. @throws ClientError: it could not be started; the reason of the limit's signal */
export async function openProgram<E extends ProgramEnd>(
  sockets: Sockets,
  question: Question,
  { hasStdin, start, files = [] }: Opening,
  limit: Limit,
): Promise<Program<E>> {
  const connection = await FrameConnection.open(sockets, question, limit);
  if (start !== undefined) connection.send(FRAME.start, start);
  for (const bytes of files) if (bytes.length > 0) connection.send(FRAME.file, bytes);
  const program = new RemoteProgram<E>(connection, hasStdin);
  await program.started;
  limit.answered();
  return program;
}

function inputOf(connection: FrameConnection): Writable {
  const write = (chunk: Uint8Array, _: unknown, done: () => void) => connection.send(FRAME.stdin, chunk, done);
  return quiet(new Writable({ write, final: (done) => connection.send(FRAME.stdinEnd, "", done) }));
}

function outputOf(connection: FrameConnection): Readable {
  const stream: Readable = new Readable({
    read: () => connection.taken(stream),
    destroy(error, done) {
      connection.taken(stream);
      done(error);
    },
  });
  return quiet(stream);
}

/** In bytes, of stdout and stderr together. */
const MOST_OUTPUT = 16 * 1024 * 1024;

class RemoteProgram<E extends ProgramEnd> implements Program<E> {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly started: Promise<void>;
  readonly #connection: FrameConnection;
  readonly #ended: Promise<E>;
  #isStarted = false;
  #begin: () => void = () => {};
  #end: (end: E) => void = () => {};

  constructor(connection: FrameConnection, hasStdin: boolean) {
    this.#connection = connection;
    this.stdin = hasStdin ? inputOf(connection) : undefined;
    this.stdout = outputOf(connection);
    this.stderr = outputOf(connection);
    let failStart = (_: Error) => {};
    let failEnd = (_: Error) => {};
    this.started = new Promise((resolve, reject) => {
      this.#begin = resolve;
      failStart = reject;
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#end = resolve;
      failEnd = reject;
    });
    // An error that nobody waits for must not end the process.
    this.#ended.catch(() => {});
    connection.receive(
      (frame) => this.#take(frame),
      (error) => {
        failStart(error);
        failEnd(error);
        for (const stream of [this.stdin, this.stdout, this.stderr]) stream?.destroy(error);
      },
    );
  }

  wait(): Promise<E> {
    return this.#ended;
  }

  async output({ maxBytes = MOST_OUTPUT }: { readonly maxBytes?: number } = {}): Promise<Output<E>> {
    if (typeof maxBytes !== "number" || !(maxBytes >= 0))
      throw new ClientError("invalid-argument", "output: maxBytes is no number of bytes");
    let left = maxBytes;
    const read = async (stream: Readable): Promise<Buffer> => {
      const pieces: Buffer[] = [];
      for await (const piece of stream as AsyncIterable<Buffer>) {
        left -= piece.length;
        if (left < 0) {
          const error = new ClientError("too-much-output", `the program has printed more than ${maxBytes} bytes`);
          this.#connection.fail(error);
          // The program may have ended already, and then a failure of the connection is reported to nobody.
          throw error;
        }
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    };
    const [stdout, stderr, end] = await Promise.all([read(this.stdout), read(this.stderr), this.#ended]);
    return { ...end, stdout, stderr };
  }

  signal(name: string): void {
    this.#connection.send(FRAME.signal, name);
  }

  resize({ rows, columns }: { readonly rows: number; readonly columns: number }): void {
    this.#connection.send(FRAME.resize, JSON.stringify({ rows, columns }));
  }

  close(): void {
    this.#connection.fail(new ClientError("stream-broken", "the program was closed"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #take({ kind, payload }: Frame): void {
    if (kind === FRAME.started) {
      this.#isStarted = true;
      this.#begin();
    } else if (kind === FRAME.stdout) this.#connection.push(this.stdout, payload);
    else if (kind === FRAME.stderr) this.#connection.push(this.stderr, payload);
    else if (kind === FRAME.failed) this.#connection.fail(failureIn(payload));
    else if (kind === FRAME.end) {
      const end = frameObject(payload) as E | undefined;
      if (end === undefined || !this.#isStarted) {
        this.#connection.fail(noDaemon(end === undefined ? "it sends a frame that cannot be read" : "it sends an end before the start"));
        return;
      }
      this.#connection.close();
      this.stdin?.destroy();
      this.stdout.push(null);
      this.stderr.push(null);
      this.#end(end);
    }
  }
}
