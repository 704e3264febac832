/** The other end of a D-Bus connection, in this process and with a clock of its own. It answers every message at once. */
import type { Stream } from "../../src/runtime/cgroup/systemd/driver/stream.ts";
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
}

const WELCOME = "DATA\r\nOK 0123456789abcdef\r\n";

export function fakeBus({ answer, welcome = WELCOME, piece = Number.POSITIVE_INFINITY, sender }: FakeOptions): FakeBus {
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

  return {
    calls,
    lines,
    later: (outgoing) => deliver(encodeOutgoing(outgoing, ++serial, undefined, origin)),
    sent: () => sent,
    send(bytes) {
      sent++;
      let rest = bytes;
      if (bytes[0] === 0) {
        const text = String.fromCharCode(...bytes.subarray(1));
        const end = text.indexOf("BEGIN\r\n") + "BEGIN\r\n".length;
        lines.push(...text.slice(0, end).split("\r\n").slice(0, -1));
        deliver(Uint8Array.from(welcome, (character) => character.charCodeAt(0)));
        rest = bytes.slice(1 + end);
      }
      while (rest.length > 0) {
        const length = messageLength(rest);
        if (length === undefined || length > rest.length) throw new Error("a message in pieces");
        const call = received(decodeMessage(rest.slice(0, length)));
        rest = rest.slice(length);
        calls.push(call);
        for (const outgoing of answer(call)) deliver(encodeOutgoing(outgoing, ++serial, call.message, origin));
      }
    },
    receive(timeoutMs) {
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
