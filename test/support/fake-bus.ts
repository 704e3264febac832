/** The other end of a D-Bus connection, in this process and with a clock of its own. It answers every message at once. */
import type { Stream } from "../../src/runtime/cgroup/systemd/driver/connection.ts";
import { decodeMessage, messageLength } from "../../src/runtime/cgroup/systemd/wire/message.ts";
import { encodeOutgoing, type Outgoing, type Received, received } from "./bus-outgoing.ts";

export interface FakeBus extends Stream {
  /** Every call, in order. */
  readonly calls: readonly Received[];
  /** The lines of the authentication. */
  readonly lines: readonly string[];
  /** How often something was sent. */
  sent(): number;
  /** Delivered at the next wait. */
  later(outgoing: Outgoing): void;
}

export interface FakeOptions {
  /** The answers to a call, in order. */
  readonly answer: (call: Received) => readonly Outgoing[];
  /** The answer to the authentication. */
  readonly welcome?: string;
  /** Bytes of one delivery; everything at once by default. */
  readonly piece?: number;
  readonly sender?: string;
  /**
   * How many bytes are read at once while the peer is being authenticated, as sd-bus does it: what has been read beyond BEGIN is looked at when more
   * is there. Without it nothing is read ahead.
   */
  readonly firstRead?: number;
}

const WELCOME = "DATA\r\nOK 0123456789abcdef\r\n";

const asText = (bytes: Uint8Array) => String.fromCharCode(...bytes);
const endOfLines = (bytes: Uint8Array) => asText(bytes).indexOf("BEGIN\r\n") + "BEGIN\r\n".length;

export function fakeBus({ answer, welcome = WELCOME, piece = Number.POSITIVE_INFINITY, sender, firstRead = 0 }: FakeOptions): FakeBus {
  const calls: Received[] = [];
  const lines: string[] = [];
  const origin = sender === undefined ? {} : { sender };
  let waiting: Uint8Array[] = [];
  let sent = 0;
  let clock = 0;
  let serial = 0;

  function deliver(bytes: Uint8Array): void {
    // No bytes mean the end of the stream.
    if (bytes.length === 0) waiting.push(bytes);
    for (let at = 0; at < bytes.length; at += piece) waiting.push(bytes.slice(at, Math.min(bytes.length, at + piece)));
  }

  /** Sent, and not read by the peer; read, and not looked at. */
  let socket = new Uint8Array(0);
  let ahead = new Uint8Array(0);
  let isAccepted = false;

  function authenticate(): void {
    const length = firstRead || endOfLines(socket);
    ahead = socket.slice(0, length);
    socket = socket.slice(length);
    const end = endOfLines(ahead);
    lines.push(...asText(ahead.subarray(1, end)).split("\r\n").slice(0, -1));
    deliver(Uint8Array.from(welcome, (character) => character.charCodeAt(0)));
    ahead = ahead.slice(end);
    isAccepted = true;
  }

  /** A peer looks only when something is there to be read. */
  function look(): void {
    if (!isAccepted && socket.length > 0) authenticate();
    while (socket.length > 0) {
      const all = Uint8Array.from([...ahead, ...socket]);
      const length = messageLength(all);
      if (length === undefined || length > all.length) throw new Error("a message in pieces");
      const call = received(decodeMessage(all.slice(0, length)));
      socket = socket.slice(Math.max(0, length - ahead.length));
      ahead = ahead.slice(length);
      calls.push(call);
      for (const outgoing of answer(call)) deliver(encodeOutgoing(outgoing, ++serial, call.message, origin));
    }
  }

  return {
    calls,
    lines,
    later: (outgoing) => deliver(encodeOutgoing(outgoing, ++serial, undefined, origin)),
    sent: () => sent,
    send(bytes) {
      sent++;
      socket = Uint8Array.from([...socket, ...bytes]);
      if (firstRead === 0) look();
    },
    receive(timeoutMs) {
      look();
      clock += 1;
      const [next, ...rest] = waiting;
      if (next === undefined) {
        clock += timeoutMs;
        throw Object.assign(new Error("timed out"), { code: "ETIMEDOUT" });
      }
      waiting = rest;
      return next;
    },
    now: () => clock,
    close: () => {},
  };
}
