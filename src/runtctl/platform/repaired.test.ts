import fc from "fast-check";
import { expect, test } from "vitest";
import { runsOf } from "../../../test/support/runs.ts";
import { repaired } from "./repaired.ts";

test("bytes of every kind, as the decoder of Node has them", () => {
  const byte = fc.constantFrom(
    0,
    0x41,
    0x7f,
    0x80,
    0x8f,
    0x90,
    0x9f,
    0xa0,
    0xbf,
    0xc0,
    0xc1,
    0xc2,
    0xdf,
    0xe0,
    0xe2,
    0xed,
    0xef,
    0xf0,
    0xf4,
    0xf5,
    0xff,
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), fc.array(byte, { maxLength: 12 }), (any, chosen) => {
      for (const bytes of [any, Uint8Array.from(chosen)])
        expect([bytes, repaired(bytes)]).toEqual([bytes, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)]);
    }),
    { numRuns: runsOf(20_000), seed: 7 },
  );
});
