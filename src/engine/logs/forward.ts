/** Sends records of a log to a unix socket. The receiver may disconnect and come back. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { LogRecord } from "./record.ts";

export interface ForwardLabels {
  readonly tag: string;
  readonly group: string;
  readonly task: string;
  readonly container: string;
}

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 800;

/** A frame: the length as 32-bit big-endian number, followed by that many bytes of JSON. */
export function forwardFrame({ time, stream, isPart, bytes }: LogRecord, labels: ForwardLabels): Buffer {
  const body = Buffer.from(JSON.stringify({ ...labels, time, stream, isPart, line: bytes.toString() }));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** The path of the socket for the next connection. `close` is called when the connection is made, or has failed. */
export interface SocketPath {
  readonly path: string;
  readonly close?: () => void;
}

export class ForwardSocket {
  readonly #find: () => SocketPath;
  readonly #greeting: Buffer | undefined;
  #socket: Socket | undefined;

  /** @param find may throw if there is no socket now. @param greeting sent first on each connection */
  constructor(find: () => SocketPath, greeting?: Buffer) {
    this.#find = find;
    this.#greeting = greeting;
  }

  /** Tries again until the kernel has taken all bytes. Resolves then, or when `signal` is aborted. */
  async send(bytes: Buffer, signal: AbortSignal): Promise<void> {
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      try {
        this.#socket ??= await this.#connected();
        await written(this.#socket, bytes, signal);
        return;
      } catch {
        this.close();
        await sleep(wait, undefined, { signal }).catch(() => {});
      }
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #connected(): Promise<Socket> {
    const { path, close } = this.#find();
    try {
      return await this.#connectTo(path);
    } finally {
      close?.();
    }
  }

  #connectTo(path: string): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once("connect", () => {
        if (this.#greeting !== undefined) socket.write(this.#greeting);
        resolve(socket);
      });
      socket.once("error", reject);
      // Data from the receiver is discarded, so that it does not fill memory.
      socket.resume();
      socket.on("close", () => {
        if (this.#socket === socket) this.#socket = undefined;
      });
    });
  }
}

/** Waits until the bytes are written. A receiver that does not read delays only its own log. */
function written(socket: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    const gone = () => reject(new Error("it has been closed"));
    signal.addEventListener("abort", leave);
    socket.once("close", gone);
    socket.write(bytes, (error) => {
      signal.removeEventListener("abort", leave);
      socket.off("close", gone);
      if (error) reject(error);
      else resolve();
    });
  });
}

// Converts records to the stream protocol of systemd's journal: a header of a few lines, followed
// by log lines. Pure. Source: sd_journal_stream_fd(3), and the way journald parses the stream.

/** The stream socket of journald. */
export const JOURNAL_SOCKET = "/run/systemd/journal/stdout";

/** Priorities of syslog(3). */
const PRIORITY: Readonly<Record<LogRecord["stream"], number>> = { stdout: 6, stderr: 3, runt: 5 };
const NUL = 0;
const BLANK = 0x20;

/** The header: identifier, no unit, default priority, each line has its own priority, and no forwarding to other targets. @param identifier contains no newline */
export function journalGreeting(identifier: string): Buffer {
  return Buffer.from(`${identifier}\n\n${PRIORITY.stdout}\n1\n0\n0\n0\n`);
}

/**
 * Converts a record, or a part of a line, to one line. NUL bytes are replaced: journald would end the line there, and the rest could pretend to have another priority.
 */
export function journalLine({ stream, bytes }: LogRecord): Buffer {
  const text = Buffer.from(bytes.map((byte) => (byte === NUL ? BLANK : byte)));
  return Buffer.concat([Buffer.from(`<${PRIORITY[stream]}>`), text, Buffer.from("\n")]);
}
