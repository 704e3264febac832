/** Connects stdin, stdout and stderr of this program with a program in a container. */
import { failureIn, type Sockets } from "../../client/protocol/index.ts";
import {
  FRAME,
  FrameReader,
  frameOf,
  type PoolRunStart,
  STREAM_PROTOCOL,
  type StreamEnd,
  type StreamStart,
} from "../../shared/frames/index.ts";
import { ClientError, connectionError, objectIn, refusal } from "../client.ts";
import { Connection, type Output, readStdin, upgrade } from "../platform/index.ts";

/** Stdio of this program. */
export interface Local {
  readonly takesStdin: boolean;
  /** undefined: the stream is not printed. */
  readonly stdout: Output | undefined;
  readonly stderr: Output | undefined;
}

/** Options of a connection. */
export interface Talk {
  /** The first frame to send; undefined: the daemon sends first. */
  readonly start?: StreamStart | PoolRunStart;
  /** The contents of the files that `start` names, in frames. */
  readonly files?: readonly Uint8Array[];
  /** Called with the last frame. */
  readonly onEnd?: (end: StreamEnd) => void;
  /** The message if the connection to the daemon is lost. */
  readonly broken: string;
  /** Filters what is typed, and returns the bytes to send. undefined: everything is sent. */
  readonly typed?: (chunk: Uint8Array) => Uint8Array;
}

/** Exit status if that of the program is unknown. */
const UNKNOWN_STATUS = 255;

export class RemoteProgram {
  readonly #connection: Connection;
  readonly #local: Local;

  constructor(connection: Connection, local: Local) {
    this.#connection = connection;
    this.#local = local;
  }

  /** Returns when the frame is sent. */
  send(kind: 0 | 1 | 2 | 3 | 4 | 5, payload: Uint8Array | string = ""): Promise<void> {
    return this.#connection.send(frameOf(kind, Buffer.from(payload)));
  }

  /** Exit status of the program. @throws ClientError: its start has failed, or the connection was lost */
  async run({ start, files = [], broken, onEnd, typed = (chunk) => chunk }: Talk): Promise<number> {
    const reader = new FrameReader();
    let text = "the daemon has gone away";
    if (start !== undefined) void this.send(FRAME.start, JSON.stringify(start));
    for (const bytes of files) void this.send(FRAME.file, bytes);
    for (;;) {
      const chunk = await this.#connection.receive();
      if (chunk === undefined) throw new ClientError("stream-broken", text);
      for (const { kind, payload } of reader.push(chunk)) {
        if (kind === FRAME.started) {
          text = broken;
          void this.#copyStdin(typed);
        }
        // A slow stream stops the reading of further frames, which slows down the program instead of filling memory.
        else if (kind === FRAME.stdout) await this.#local.stdout?.send(payload);
        else if (kind === FRAME.stderr) await this.#local.stderr?.send(payload);
        else if (kind === FRAME.end) {
          const end = JSON.parse(Buffer.from(payload).toString()) as StreamEnd;
          onEnd?.(end);
          return end.exitCode ?? UNKNOWN_STATUS;
        } else if (kind === FRAME.failed) throw failureIn(payload);
      }
    }
  }

  close(): void {
    this.#connection.close();
  }

  async #copyStdin(typed: (chunk: Uint8Array) => Uint8Array): Promise<void> {
    if (!this.#local.takesStdin) return;
    const isOver = () => !this.#connection.isOpen;
    for (let chunk = await readStdin(isOver); chunk !== undefined; chunk = await readStdin(isOver)) {
      const bytes = typed(chunk);
      if (bytes.length > 0) await this.send(FRAME.stdin, bytes);
    }
    await this.send(FRAME.stdinEnd);
  }
}

/** Connects to the daemon for frames. @throws ClientError: the daemon refuses or does not answer */
export async function upgraded([socketPath]: Sockets, path: string, method: "GET" | "POST" = "GET"): Promise<Connection> {
  const answer = await upgrade({ socketPath, path, method }, STREAM_PROTOCOL).catch((error) => {
    throw connectionError(socketPath, error as NodeJS.ErrnoException);
  });
  if (answer instanceof Connection) return answer;
  const { code, message } = refusal(await objectIn({ socketPath, ...answer }));
  throw new ClientError(code, message);
}
