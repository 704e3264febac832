import { expect, test } from "vitest";
import type { Variant } from "../wire/types.ts";
import { parseGvariant } from "./parse.ts";
import { printGvariant } from "./print.ts";

const TABLE: readonly (readonly [Variant, string])[] = [
  [{ signature: "b", value: true }, "true"],
  [{ signature: "i", value: -3 }, "-3"],
  [{ signature: "t", value: 5n }, "uint64 5"],
  [{ signature: "y", value: 5 }, "byte 5"],
  [{ signature: "d", value: 2 }, "2.0"],
  [{ signature: "d", value: Number.NEGATIVE_INFINITY }, "-inf"],
  [{ signature: "d", value: 1e300 }, "1e+300"],
  [{ signature: "s", value: "it's\n\\" }, "'it\\'s\\u000a\\\\'"],
  [{ signature: "o", value: "/a" }, "objectpath '/a'"],
  [{ signature: "as", value: [] }, "@as []"],
  [{ signature: "ay", value: Uint8Array.of(15, 0) }, "@ay [15, 0]"],
  [{ signature: "a(ss)", value: [["/dev/null", "rw"]] }, "@a(ss) [('/dev/null', 'rw')]"],
  [{ signature: "(t)", value: [1n] }, "@(t) (1,)"],
  [{ signature: "a{sv}", value: [["k", { signature: "u", value: 1 }]] }, "@a{sv} {'k': <uint32 1>}"],
  [{ signature: "v", value: { signature: "at", value: [1n] } }, "<@at [1]>"],
];

test.each(TABLE.map(([value, text]) => [text, value] as const))("%s", (text, value) => {
  expect(printGvariant(value)).toBe(text);
  expect(parseGvariant(text)).toEqual(value);
});
