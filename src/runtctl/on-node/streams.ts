/** Connects stdin, stdout and stderr of this program with a program in a container. */
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { FRAME, FrameReader, frameOf, STREAM_PROTOCOL, type StreamEnd, type StreamStart } from "../../shared/frames/index.ts";
import { ClientError, connectionError } from "../client.ts";
import { connectionOptions } from "../platform/node/ask.ts";
import type { Sockets } from "../sockets.ts";

/** Stdio of this program. */
export interface Local {
  readonly stdin: NodeJS.ReadStream | undefined;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Options of a connection. */
export interface Talk {
  /** The first frame to send; undefined: the daemon sends first. */
  readonly start?: StreamStart;
  /** The message if the connection to the daemon is lost. */
  readonly broken: string;
  /** Filters what is typed, and returns the bytes to send. undefined: everything is sent. */
  readonly typed?: (chunk: Buffer) => Buffer;
}

/** Exit status if that of the program is unknown. */
const UNKNOWN_STATUS = 255;

export class RemoteProgram {
  readonly #socket: Duplex;
  readonly #local: Local;

  constructor(socket: Duplex, local: Local) {
    this.#socket = socket;
    this.#local = local;
  }

  send(kind: 1 | 2 | 3 | 4, payload: Uint8Array | string = ""): boolean {
    return this.#socket.destroyed || this.#socket.write(frameOf(kind, Buffer.from(payload)));
  }

  /** Exit status of the program. @throws ClientError: its start has failed, or the connection was lost */
  run({ start, broken, typed = (chunk) => chunk }: Talk): Promise<number> {
    const reader = new FrameReader();
    return new Promise((resolve, reject) => {
      let text = "the daemon has gone away";
      this.#socket.on("data", (chunk: Buffer) => {
        for (const { kind, payload } of reader.push(chunk)) {
          if (kind === FRAME.started) {
            text = broken;
            this.#copyStdin(typed);
          } else if (kind === FRAME.stdout) this.#print(this.#local.stdout, payload);
          else if (kind === FRAME.stderr) this.#print(this.#local.stderr, payload);
          else if (kind === FRAME.end) resolve((JSON.parse(Buffer.from(payload).toString()) as StreamEnd).exitCode ?? UNKNOWN_STATUS);
          else if (kind === FRAME.failed) reject(failureIn(payload));
        }
      });
      // Every error of the socket means that the connection is lost.
      this.#socket.once("error", () => {});
      this.#socket.once("close", () => reject(new ClientError("stream-broken", text)));
      if (start !== undefined) this.#socket.write(frameOf(FRAME.start, Buffer.from(JSON.stringify(start))));
    });
  }

  close(): void {
    const { stdin } = this.#local;
    stdin?.pause();
    stdin?.unref?.();
    this.#socket.destroy();
  }

  #copyStdin(typed: (chunk: Buffer) => Buffer): void {
    const { stdin } = this.#local;
    if (stdin === undefined) return;
    stdin.on("data", (chunk: Buffer) => {
      const bytes = typed(chunk);
      if (bytes.length === 0 || this.send(FRAME.stdin, bytes)) return;
      stdin.pause();
      this.#socket.once("drain", () => stdin.resume());
    });
    stdin.once("end", () => this.send(FRAME.stdinEnd));
  }

  /** Pauses reading while stdout is slow, which slows down the program instead of filling memory. */
  #print(output: NodeJS.WriteStream, bytes: Uint8Array): void {
    if (output.write(bytes)) return;
    this.#socket.pause();
    output.once("drain", () => this.#socket.resume());
  }
}

/** @param signal ends a connection that is not yet upgraded. @throws ClientError: the daemon refuses or does not answer */
export function upgraded([socketPath]: Sockets, path: string, signal?: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const headers = { connection: "Upgrade", upgrade: STREAM_PROTOCOL };
    const call = request({ ...connectionOptions(socketPath, path), headers, ...(signal && { signal }) });
    call.once("upgrade", (_, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    call.once("response", (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.once("end", () => {
        const { code, message } = JSON.parse(text) as { code: string; message: string };
        reject(new ClientError(code, message));
      });
    });
    call.once("error", (error) => reject(connectionError(socketPath, error)));
    call.end();
  });
}

function failureIn(payload: Uint8Array): ClientError {
  const { code, message, exitStatus } = JSON.parse(Buffer.from(payload).toString()) as {
    code: string;
    message: string;
    exitStatus: number;
  };
  return new ClientError(code, message, { exitStatus });
}
