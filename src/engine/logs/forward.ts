/** Sends records of a log to a socket. The receiver may disconnect and come back. */
import { createSocket, type Socket as DatagramSender } from "node:dgram";
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

/** Address of the next connection. `close` is called when the connection is made or has failed. */
export type SocketPlace = { readonly path: string; readonly close?: () => void } | { readonly host: string; readonly port: number };

/** Milliseconds after which a connection attempt to a host that does not answer is given up and repeated. */
const CONNECT_MS = 10_000;

/** Sends the bytes of one log to one receiver. */
export interface Sender {
  /** A lost connection is made again. Resolves when the kernel has taken all messages, or when `signal` is aborted. */
  send(messages: readonly Buffer[], signal: AbortSignal): Promise<void>;
  close(): void;
}

export class ForwardSocket implements Sender {
  readonly #find: () => SocketPlace;
  readonly #greeting: Buffer | undefined;
  #socket: Socket | undefined;

  /** @param find called for each connection; may throw if there is no socket now. @param greeting sent first on each connection */
  constructor(find: () => SocketPlace, greeting?: Buffer) {
    this.#find = find;
    this.#greeting = greeting;
  }

  async send(messages: readonly Buffer[], signal: AbortSignal): Promise<void> {
    const bytes = Buffer.concat(messages);
    await untilSent(signal, async () => {
      try {
        this.#socket ??= await this.#connected(signal);
        await written(this.#socket, bytes, signal);
      } catch (error) {
        this.close();
        throw error;
      }
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #connected(signal: AbortSignal): Promise<Socket> {
    const place = this.#find();
    try {
      const socket = await connectTo(place, signal);
      if (this.#greeting !== undefined) socket.write(this.#greeting);
      // Data from the receiver is discarded, so that it does not fill memory.
      socket.resume();
      socket.on("close", () => {
        if (this.#socket === socket) this.#socket = undefined;
      });
      return socket;
    } finally {
      if ("path" in place) place.close?.();
    }
  }
}

/**
 * A connection, which nobody reads yet. It is closed when `signal` is aborted before it is made, or after it was not made within 10 s.
 * @throws Error
 */
export function connectTo(place: SocketPlace, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect("path" in place ? { path: place.path } : { host: place.host, port: place.port });
    const leave = () => socket.destroy(signal.reason);
    signal.addEventListener("abort", leave);
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error("it does not answer")));
    socket.once("connect", () => {
      socket.setTimeout(0);
      signal.removeEventListener("abort", leave);
      resolve(socket);
    });
    socket.once("error", reject);
    socket.on("close", () => signal.removeEventListener("abort", leave));
  });
}

/** Sends each message as one datagram, once and without confirmation. The host name is looked up until that succeeds once. */
export class DatagramSocket implements Sender {
  readonly #host: string;
  readonly #port: number;
  #socket: DatagramSender | undefined;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  async send(messages: readonly Buffer[], signal: AbortSignal): Promise<void> {
    await untilSent(signal, async () => {
      this.#socket ??= await this.#connected();
    });
    for (const message of messages) if (!signal.aborted) await new Promise<void>((done) => this.#socket!.send(message, () => done()));
  }

  close(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #connected(): Promise<DatagramSender> {
    return new Promise((resolve, reject) => {
      const socket = createSocket(this.#host.includes(":") ? "udp6" : "udp4");
      // Errors of sent messages arrive here, too. They are ignored, because nobody repeats a datagram.
      socket.on("error", () => {});
      socket.unref();
      socket.connect(this.#port, this.#host, ((error?: Error) => {
        if (error === undefined || error === null) return resolve(socket);
        socket.close();
        reject(error);
      }) as () => void);
    });
  }
}

/** Tries again until it does not throw, or `signal` is aborted. @param failed is told of each failure */
export async function untilSent(
  signal: AbortSignal,
  send: () => Promise<void>,
  failed: (error: unknown) => void = () => {},
): Promise<void> {
  for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      await send();
      return;
    } catch (error) {
      if (!signal.aborted) failed(error);
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }
}

/** Waits until the bytes are written. A receiver that does not read delays only its own log. */
export function written(socket: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
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

/**
 * The header: identifier, no unit, default priority, each line has its own priority, and no forwarding to other targets.
 * @param identifier contains no newline
 */
export function journalGreeting(identifier: string): Buffer {
  return Buffer.from(`${identifier}\n\n${PRIORITY.stdout}\n1\n0\n0\n0\n`);
}

/**
 * Converts a record, or a part of a line, to one line. NUL bytes are replaced: journald would end the line there, and the rest could pretend to
 * have another priority.
 */
export function journalLine({ stream, bytes }: LogRecord): Buffer {
  const text = Buffer.from(bytes.map((byte) => (byte === NUL ? BLANK : byte)));
  return Buffer.concat([Buffer.from(`<${PRIORITY[stream]}>`), text, Buffer.from("\n")]);
}
