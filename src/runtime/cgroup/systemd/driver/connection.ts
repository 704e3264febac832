/** One D-Bus connection, spoken synchronously. Source: D-Bus specification, "Authentication Protocol" and "Message Protocol". */

import { joinBytes } from "../../../../shared/text/index.ts";
import * as host from "../../../host/index.ts";
import { decodeMessage, encodeMessage, type Header, MESSAGE_TYPE, type Message, messageLength, readBody } from "../wire/message.ts";
import type { Value } from "../wire/types.ts";

/** For one answer. */
const ANSWER_MS = 30_000;
const LONGEST_LINE = 16_384;
/** Serial number of the first call. */
const HELLO = 1;
/** What sd-bus reads at once while it authenticates a peer. */
const FIRST_READ = 256;
/** How long the first answer may take before it is asked for again. */
const PATIENCE_MS = 100;

const PING = { path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus.Peer", member: "Ping" };
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
  /** Unique name of the program that answered; undefined without a bus. */
  readonly sender?: string;
}

export interface Connection {
  /** Wait until the peer has taken the authentication (and a bus has given a name), as the first call does otherwise. @throws Error */
  requireAccess(): void;
  /** Call a method and wait for its answer. @throws BusError, or Error when the connection breaks */
  call(request: Call): Reply;
  /** Make these calls at once, which the peer answers one after the other. Errors of the peer are among the answers. @throws Error when the connection breaks */
  callAll(requests: readonly Call[]): readonly (Reply | BusError)[];
  /** The first signal that `wanted` accepts, of those that have arrived or arrive within the time; undefined after it. */
  awaitSignal(wanted: (signal: Message) => boolean, timeoutMs: number): Message | undefined;
  close(): void;
}

/** `direct`: the peer is the service itself, without a bus that gives names. Nothing is waited for before there is a call. @throws Error */
export function openConnection(stream: Stream, direct: boolean): Connection {
  let serial = 0;
  let isAccepted = false;
  let mayStall = false;
  let pending = new Uint8Array(0);
  const signals: Message[] = [];

  function receive(deadline: number): Uint8Array {
    const left = () => Math.max(0, deadline - stream.now());
    if (!mayStall) return stream.receive(left());
    mayStall = false;
    try {
      return stream.receive(Math.min(PATIENCE_MS, left()));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ETIMEDOUT") throw error;
      stream.send(joinBytes(encode([PING])));
      return stream.receive(left());
    }
  }

  function fill(deadline: number): void {
    const arrived = receive(deadline);
    if (arrived.length === 0) throw new Error("the connection was closed");
    pending = joinBytes([pending, arrived]);
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
        mayStall = false;
        return message;
      }
      fill(deadline);
    }
  }

  /** The messages of calls with the next serial numbers. */
  function encode(requests: readonly Call[]): Uint8Array[] {
    return requests.map(({ values, ...header }) => encodeMessage({ type: MESSAGE_TYPE.call, serial: ++serial, ...header }, values));
  }

  /** To the call that was made with this serial number. */
  function answerTo(request: number): Reply | BusError {
    const deadline = stream.now() + ANSWER_MS;
    for (;;) {
      const message = readMessage(deadline);
      if (message.type === MESSAGE_TYPE.signal) signals.push(message);
      if (message.replySerial !== request) continue;
      if (message.type === MESSAGE_TYPE.error) return busError(message);
      if (message.type === MESSAGE_TYPE.reply) {
        return { values: readBody(message), ...(message.sender !== undefined && { sender: message.sender }) };
      }
    }
  }

  /**
   * Without a name: the peer takes that of the socket, which also holds in a user namespace. What follows is sent without waiting for the answer:
   * it is read only if the peer takes BEGIN.
   */
  function authenticate(following: readonly Uint8Array[]): void {
    const lines = Uint8Array.from("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n", (character) => character.charCodeAt(0));
    stream.send(joinBytes([lines, ...following]));
  }

  function requireAccess(): void {
    if (isAccepted) return;
    const deadline = stream.now() + ANSWER_MS;
    for (let line = readLine(deadline); !line.startsWith("OK"); line = readLine(deadline)) {
      if (!line.startsWith("DATA")) throw new Error(`authentication refused: ${line}`);
    }
    isAccepted = true;
    const greeted = direct ? undefined : answerTo(HELLO);
    if (greeted instanceof BusError) throw greeted;
  }

  /**
   * Calls need not wait for these answers. But sd-bus, the peer of a direct connection, looks at what it has read beyond BEGIN only when more arrives:
   * the last byte must not be among the first that it reads.
   */
  function sendCalls(bytes: Uint8Array): void {
    if (direct && bytes.length <= FIRST_READ) requireAccess();
    stream.send(bytes);
    if (isAccepted) return;
    requireAccess();
    // A peer that reads more at once than sd-bus does gets one more call, which makes it look.
    mayStall = direct;
  }

  const connection: Connection = {
    requireAccess,

    call(request) {
      const [answer] = connection.callAll([request]);
      if (answer instanceof BusError) throw answer;
      return answer!;
    },

    callAll(requests) {
      if (requests.length === 0) return [];
      const first = serial + 1;
      sendCalls(joinBytes(encode(requests)));
      return requests.map((_, index) => answerTo(first + index));
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
  authenticate(direct ? [] : encode([{ ...BUS, member: "Hello" }]));
  return connection;
}

/** The call that has the bus deliver signals. */
export function addMatch(rule: string): Call {
  return { ...BUS, member: "AddMatch", signature: "s", values: [rule] };
}

/** The first value of an error is its text, by convention. */
function busError(message: Message): BusError {
  const [text] = message.signature?.startsWith("s") ? readBody(message) : [];
  return new BusError(message.errorName ?? "", typeof text === "string" ? text : (message.errorName ?? "error"));
}

/** A byte stream to a peer, and the clock its time limits are measured with. */
export interface Stream {
  send(bytes: Uint8Array): void;
  /** What has arrived; nothing at the end. @throws HostError ETIMEDOUT */
  receive(timeoutMs: number): Uint8Array;
  /** Milliseconds. */
  now(): number;
  close(): void;
}

/** Who listens, as this process's PID and user namespaces have it; pid 0: a process that is in neither this nor a PID namespace below. */
export interface Peer {
  readonly pid: number;
  readonly uid: number;
}

/** @throws HostError */
export function openStream(path: string): Stream & { peer(): Peer } {
  const fd = host.connect(path);
  return {
    send: (bytes) => host.write(fd, bytes.slice().buffer as ArrayBuffer),
    receive: (timeoutMs) => new Uint8Array(host.receive(fd, timeoutMs)),
    now: host.monotonic,
    peer: () => host.peerCredentials(fd),
    close: () => host.close(fd),
  };
}
