/** One D-Bus connection, spoken synchronously. Source: D-Bus specification, "Authentication Protocol" and "Message Protocol". */
import { decodeMessage, encodeMessage, type Header, MESSAGE_TYPE, type Message, messageLength, readBody } from "../wire/message.ts";
import type { Value } from "../wire/types.ts";
import type { Stream } from "./stream.ts";

/** For one answer. */
const ANSWER_MS = 30_000;
const LONGEST_LINE = 16_384;

const BUS = { destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus" };

/** The peer's answer was an error. */
export class BusError extends Error {
  /** "org.freedesktop.systemd1.UnitExists". */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "BusError";
    this.code = code;
  }
}

export interface Call extends Pick<Header, "destination" | "path" | "interface" | "member" | "signature"> {
  readonly values?: readonly Value[];
}

export interface Reply {
  readonly values: readonly Value[];
  /** Unique name of who answered; undefined without a bus. */
  readonly sender?: string;
}

export interface Connection {
  /** Call a method and wait for its answer. @throws BusError, or Error when the connection breaks */
  call(request: Call): Reply;
  /** The first signal that `wanted` accepts, of those that have arrived or arrive within the time; undefined after it. */
  awaitSignal(wanted: (signal: Message) => boolean, timeoutMs: number): Message | undefined;
  close(): void;
}

/** `direct`: the peer is the service itself, without a bus that gives names. @throws Error */
export function openConnection(stream: Stream, direct: boolean): Connection {
  let serial = 0;
  let pending = new Uint8Array(0);
  const signals: Message[] = [];

  function fill(deadline: number): void {
    const arrived = stream.receive(Math.max(0, deadline - stream.now()));
    if (arrived.length === 0) throw new Error("the connection was closed");
    const joined = new Uint8Array(pending.length + arrived.length);
    joined.set(pending);
    joined.set(arrived, pending.length);
    pending = joined;
  }

  function readLine(deadline: number): string {
    for (;;) {
      const end = pending.indexOf(0x0a);
      if (end !== -1) {
        const line = String.fromCharCode(...pending.subarray(0, end)).replace(/\r$/, "");
        pending = pending.slice(end + 1);
        return line;
      }
      if (pending.length > LONGEST_LINE) throw new Error("no answer to the authentication");
      fill(deadline);
    }
  }

  function readMessage(deadline: number): Message {
    for (;;) {
      const length = messageLength(pending);
      if (length !== undefined && pending.length >= length) {
        const message = decodeMessage(pending.slice(0, length));
        pending = pending.slice(length);
        return message;
      }
      fill(deadline);
    }
  }

  /** Without a name: the peer takes that of the socket, which also holds in a user namespace. */
  function authenticate(): void {
    stream.send(Uint8Array.from("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n", (character) => character.charCodeAt(0)));
    const deadline = stream.now() + ANSWER_MS;
    for (;;) {
      const line = readLine(deadline);
      if (line.startsWith("OK")) return;
      if (!line.startsWith("DATA")) throw new Error(`authentication refused: ${line}`);
    }
  }

  const connection: Connection = {
    call({ values, ...header }) {
      const request = ++serial;
      stream.send(encodeMessage({ type: MESSAGE_TYPE.call, serial: request, ...header }, values));
      const deadline = stream.now() + ANSWER_MS;
      for (;;) {
        const message = readMessage(deadline);
        if (message.type === MESSAGE_TYPE.signal) signals.push(message);
        if (message.replySerial !== request) continue;
        if (message.type === MESSAGE_TYPE.error) throw busError(message);
        if (message.type === MESSAGE_TYPE.reply) {
          return { values: readBody(message), ...(message.sender === undefined ? {} : { sender: message.sender }) };
        }
      }
    },

    awaitSignal(wanted, timeoutMs) {
      const deadline = stream.now() + timeoutMs;
      for (;;) {
        while (signals.length > 0) {
          const signal = signals.shift()!;
          if (wanted(signal)) return signal;
        }
        try {
          const message = readMessage(deadline);
          if (message.type === MESSAGE_TYPE.signal) signals.push(message);
        } catch (error) {
          if ((error as { code?: unknown }).code === "ETIMEDOUT") return undefined;
          throw error;
        }
      }
    },

    close: stream.close,
  };
  authenticate();
  if (!direct) connection.call({ ...BUS, member: "Hello" });
  return connection;
}

/** Have the bus deliver signals. */
export function addMatch(connection: Connection, rule: string): void {
  connection.call({ ...BUS, member: "AddMatch", signature: "s", values: [rule] });
}

/** The first value of an error is its text, by convention. */
function busError(message: Message): BusError {
  const [text] = message.signature?.startsWith("s") ? readBody(message) : [];
  return new BusError(message.errorName ?? "", typeof text === "string" ? text : (message.errorName ?? "error"));
}
