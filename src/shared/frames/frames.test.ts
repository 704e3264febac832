import fc from "fast-check";
import { expect, test } from "vitest";
import { FRAME, FrameReader, frameOf, LARGEST_FRAME } from "./index.ts";

const KINDS = Object.values(FRAME);

test("frames come out as they went in, however they are cut on the way", () => {
  const frame = fc.record({ kind: fc.constantFrom(...KINDS), payload: fc.uint8Array({ maxLength: 300 }) });
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.nat(700)), (frames, cuts) => {
      const bytes = frames.flatMap(({ kind, payload }) => [...frameOf(kind, payload)]);
      const reader = new FrameReader();
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      const read = places.flatMap((place, index) =>
        index === 0 ? [] : reader.push(Uint8Array.from(bytes.slice(places[index - 1], place))),
      );
      expect(read.map(({ kind, payload }) => ({ kind, payload: [...payload] }))).toEqual(
        frames.map(({ kind, payload }) => ({ kind, payload: [...payload] })),
      );
    }),
  );
});

test("a length that nobody may ask for is refused before it is waited for", () => {
  const header = new Uint8Array(5);
  new DataView(header.buffer).setUint32(1, LARGEST_FRAME + 1);
  expect(() => new FrameReader().push(header)).toThrow(/is the most/);
});

test("a frame that comes byte by byte takes no more time than one that comes at once", () => {
  const frame = frameOf(FRAME.stdin, new Uint8Array(LARGEST_FRAME));
  const reader = new FrameReader();
  const begun = Date.now();
  let count = 0;
  for (let at = 0; at < frame.length; at++) count += reader.push(frame.subarray(at, at + 1)).length;
  expect(count).toBe(1);
  // Where each byte had all of the frame copied it took minutes.
  expect(Date.now() - begun).toBeLessThan(60_000);
});
