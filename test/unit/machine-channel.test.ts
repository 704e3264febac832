/** A hostile guest: random frames and random bytes never get more out of the host's side than a ProtocolError, nor memory beyond the windows. */
import { describe, expect, it } from "vitest";
import {
  DATA_MOST,
  encodeFrame,
  FRAMES,
  FrameDecoder,
  type FrameName,
  ProtocolError,
  WINDOW,
} from "../../src/runtime/isolation/channel/frame.ts";
import { encodeCredit } from "../../src/runtime/isolation/channel/messages.ts";
import { HostSession } from "../../src/runtime/isolation/channel/session.ts";
import { type Random, randomFrom } from "../support/channel/sessions.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const ROUNDS = Number(process.env["RUNT_FUZZ"] ?? 3000);
const SEED = Number(process.env["RUNT_FUZZ_SEED"] ?? 1);

const NAMES = Object.keys(FRAMES) as FrameName[];

/** Mostly frames that could be, with their fields off by a little. */
function someBytes(random: Random): Uint8Array {
  const name = NAMES[random(NAMES.length)]!;
  const { most, fewest = most } = FRAMES[name];
  const length = Math.min(fewest + random(Math.min(most - fewest + 1, DATA_MOST)), most);
  const payload = payloadOf(name, length, random);
  const bytes = encodeFrame(name, random(4), payload);
  for (let flips = random(8) === 0 ? 1 + random(4) : 0; flips > 0; flips--) bytes[random(bytes.length)] = random(256);
  return random(16) === 0 ? bytes.subarray(0, random(bytes.length + 1)) : bytes;
}

function payloadOf(name: FrameName, length: number, random: Random): Uint8Array {
  if (name === "hello") return new TextEncoder().encode(JSON.stringify({ version: "1", commit: "c" }));
  if (name === "failed") return new TextEncoder().encode(JSON.stringify({ message: "m", status: random(300), shown: random(2) === 0 }));
  if (name === "credit") return encodeCredit({ channel: (["stdin", "stdout", "stderr"] as const)[random(3)]!, bytes: random(2 * WINDOW) });
  const payload = new Uint8Array(length);
  for (let at = 0; at < Math.min(length, 16); at++) payload[at] = random(256);
  return payload;
}

describe("a hostile guest", () => {
  it(`is refused, or does what a guest may, ${ROUNDS} times`, () => {
    const random = randomFrom(SEED);
    const ends = { refused: 0, survived: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const decoder = new FrameDecoder("guest");
      const session = new HostSession((bytes) => utf8.decode(bytes));
      for (let count = random(4); count > 0; count--) session.open();
      let held = 0;
      try {
        if (random(8) > 0) session.receive({ name: "hello", stream: 0, payload: payloadOf("hello", 0, random) });
        for (let step = 0; step < 40; step++) {
          for (const frame of decoder.push(someBytes(random))) {
            const event = session.receive(frame);
            if (event.what === "output") held += event.bytes.length;
            if (event.what === "ended" || event.what === "failed") expect(session.isOpen(event.stream)).toBe(false);
          }
        }
        ends.survived++;
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError);
        ends.refused++;
      }
      // Nothing was released: no stream has brought more than its two windows.
      expect(held).toBeLessThanOrEqual(4 * 2 * WINDOW);
    }
    expect(ends.refused).toBeGreaterThan(0);
  });
});
