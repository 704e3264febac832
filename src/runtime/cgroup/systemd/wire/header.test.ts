import fc from "fast-check";
import { expect, test } from "vitest";
import { runsOf } from "../../../../../test/support/runs.ts";
import { decodeHeader, encodeHeader, type Header } from "./header.ts";
import { marshal } from "./marshal.ts";
import type { Value, Variant } from "./types.ts";
import { unmarshal } from "./unmarshal.ts";

/** Code and type of each field, as the specification has them. */
const FIELDS = {
  path: [1, "o"],
  interface: [2, "s"],
  member: [3, "s"],
  errorName: [4, "s"],
  replySerial: [5, "u"],
  destination: [6, "s"],
  sender: [7, "s"],
  signature: [8, "g"],
} as const;
type Name = keyof typeof FIELDS;

const SIGNATURE = "yyyyuua(yv)";
const RUNS = runsOf(2_000);
const word = fc.nat({ max: 0xffff_ffff });
const text = fc.string({ unit: fc.constantFrom("a", "B", ".", ":", "9", "_"), maxLength: 70 });
const header: fc.Arbitrary<Header> = fc.record(
  {
    type: fc.integer({ min: 0, max: 255 }),
    serial: word,
    path: fc.constantFrom("/", "/org/freedesktop/systemd1", "/a_/b9"),
    interface: text,
    member: text,
    errorName: text,
    replySerial: word,
    destination: text,
    sender: text,
    signature: fc.constantFrom("", "s", "a(sv)", "uoss"),
  },
  { requiredKeys: ["type", "serial"] },
);

/** By the rules for any value. */
function general({ type, serial, ...rest }: Header, bodyLength: number): Uint8Array {
  const fields = Object.entries(FIELDS).flatMap(([name, [code, signature]]): Value[] => {
    const value = rest[name as Name];
    return value === undefined ? [] : [[code, { signature, value }]];
  });
  return marshal(SIGNATURE, [0x6c, type, 0, 1, bodyLength, serial, fields]);
}

function generalOf(bytes: Uint8Array, littleEndian: boolean): Header {
  const head = unmarshal(SIGNATURE, bytes, littleEndian);
  const named: Record<string, unknown> = { type: head[1], serial: head[5] };
  for (const [code, { signature, value }] of head[6] as readonly [number, Variant][]) {
    const [name, [, type]] = Object.entries(FIELDS).find(([, [known]]) => known === code) ?? ["", [0, ""]];
    if (name === "") continue;
    if (type !== signature) throw new RangeError(name);
    named[name] = value;
  }
  return named as unknown as Header;
}

test("a header is written as its signature says", () => {
  fc.assert(
    fc.property(header, fc.nat({ max: 100 }), (one, bodyLength) => {
      const expected = general(one, bodyLength);
      const { message, body } = encodeHeader(one, bodyLength);
      expect([...message.subarray(0, expected.length)]).toEqual([...expected]);
      expect([body, message.length]).toEqual([Math.ceil(expected.length / 8) * 8, body + bodyLength]);
      expect(message.subarray(expected.length).every((byte) => byte === 0)).toBe(true);
      expect(decodeHeader(expected, true)).toEqual(one);
    }),
    { numRuns: RUNS },
  );
});

function outcome(read: () => Header): Header | "refused" {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "refused";
  }
}

test("what a peer makes of it is read, or refused, as its signature says", () => {
  const change = fc.record({
    at: fc.nat({ max: 400 }),
    byte: fc.oneof(fc.constantFrom(0, 1, 7, 8, 0x67, 0x73, 0x75), fc.integer({ min: 0, max: 255 })),
  });
  let refused = 0;
  fc.assert(
    fc.property(header, fc.array(change, { maxLength: 2 }), fc.nat({ max: 12 }), fc.boolean(), (one, changes, cut, littleEndian) => {
      const whole = general(one, 0);
      for (const { at, byte } of changes) whole[at % whole.length] = byte;
      const bytes = whole.subarray(0, Math.max(16, whole.length - (cut > 8 ? cut - 8 : 0)));
      // The length of the fields is what tells where the header ends.
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(12, bytes.length - 16, littleEndian);
      const expected = outcome(() => generalOf(bytes, littleEndian));
      if (expected === "refused") refused++;
      expect(outcome(() => decodeHeader(bytes, littleEndian))).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
  expect(refused).toBeGreaterThan(RUNS / 10);
  expect(refused).toBeLessThan(RUNS - RUNS / 10);
});

test("fields that nobody knows are left out, whatever their type", () => {
  const bytes = marshal(SIGNATURE, [
    ...[0x6c, 4, 0, 1, 0, 9],
    [
      [3, { signature: "s", value: "Signal" }],
      [200, { signature: "a{sv}", value: [["k", { signature: "t", value: 1n }]] }],
      [9, { signature: "u", value: 1 }],
      [7, { signature: "s", value: ":1.0" }],
    ],
  ] as Value[]);
  expect(decodeHeader(bytes, true)).toEqual({ type: 4, serial: 9, member: "Signal", sender: ":1.0" });
});

test.each<readonly [string, Partial<Header>]>([
  ["not ASCII", { member: "Gr\u00fcn" }],
  ["not a D-Bus object path", { path: "a" }],
  ["a NUL", { sender: "a\0" }],
  ["not a D-Bus signature", { signature: "(" }],
])("a field is refused that is %s", (words, field) => {
  expect(() => encodeHeader({ type: 1, serial: 1, ...field }, 0)).toThrow(words);
});
