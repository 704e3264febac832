import { expect, test } from "vitest";
import { marshal } from "./marshal.ts";
import type { Value } from "./types.ts";
import { unmarshal } from "./unmarshal.ts";

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Signature, values, bytes (from the rules of the specification, by hand). */
const TABLE: readonly (readonly [string, readonly Value[], string])[] = [
  ["", [], ""],
  ["yb", [7, true], "07000000 01000000"],
  ["nqiu", [-2, 0xffff, -3, 0xffff_ffff], "feff ffff fdffffff ffffffff"],
  ["yx", [1, -1n], "01 00000000000000 ffffffffffffffff"],
  ["t", [(1n << 64n) - 1n], "ffffffffffffffff"],
  ["d", [1.5], "000000000000f83f"],
  ["s", ["aä"], "03000000 61c3a4 00"],
  ["ys", [1, ""], "01000000 00000000 00"],
  ["o", ["/a/b_1"], "06000000 2f612f625f31 00"],
  ["g", ["a(sv)"], "05 6128737629 00"],
  ["v", [{ signature: "u", value: 5 }], "01 75 00 00 05000000"],
  ["ay", [Uint8Array.of(1, 2, 3)], "03000000 010203"],
  ["ay", [[1, 2]], "02000000 0102"],
  // The padding before the first element does not count into the length.
  ["at", [[]], "00000000 00000000"],
  ["at", [[1n]], "08000000 00000000 0100000000000000"],
  ["a(ys)", [[[1, "x"]]], "0a000000 00000000 01000000 01000000 7800"],
  ["a{sv}", [[["k", { signature: "b", value: false }]]], "10000000 00000000 01000000 6b00 01 6200 000000 00000000"],
  ["(y(y))y", [[1, [2]], 3], "01 00000000000000 02 03"],
];

test.each(TABLE)("%s %#", (signature, values, expected) => {
  expect(hex(marshal(signature, values))).toBe(expected.replaceAll(" ", ""));
});

test("more than the first buffer", () => {
  const text = "x".repeat(5_000);
  expect(marshal("su", [text, 1])).toHaveLength(4 + 5_000 + 1 + 3 + 4);
});

test.each<readonly [string, Value]>([
  ["b", true],
  ["u", 7],
  ["q", 7],
  ["t", 7n],
  ["d", 0.5],
  ["s", "some text"],
  ["s", "Gr\u00fc\u00dfe"],
  ["g", "a(sv)"],
  ["au", [1, 2]],
  ["(yv)", [1, { signature: "s", value: "x" }]],
])("%s may be the value for which there is no more room", (signature, value) => {
  // Around the sizes at which the buffer grows.
  for (let length = 480; length < 520; length++) {
    const values = ["x".repeat(length), value, 9];
    expect(unmarshal(`s${signature}y`, marshal(`s${signature}y`, values))).toEqual(values);
  }
});

test.each<readonly [string, readonly Value[], string]>([
  ["y", [256], "256 does not fit into the D-Bus type y"],
  ["n", [-32_769], "does not fit"],
  ["u", [-1], "does not fit"],
  ["t", [1n << 64n], "does not fit"],
  ["i", [1.5], "a number is not of the D-Bus type i"],
  ["u", ["1"], "a string is not of the D-Bus type u"],
  ["b", [1], "a number is not of the D-Bus type b"],
  ["d", [1n], "a bigint is not of the D-Bus type d"],
  ["s", [1], "a number is not of the D-Bus type s"],
  ["s", ["a\0b"], "NUL"],
  ["o", ["a"], "not a D-Bus object path"],
  ["o", ["/a/"], "not a D-Bus object path"],
  ["g", ["("], "not a D-Bus signature"],
  ["v", [1], "not of the D-Bus type v"],
  ["v", [{ signature: "uu", value: 1 }], "not one type"],
  ["as", [Uint8Array.of(1)], "not of the D-Bus type as"],
  ["as", ["abc"], "not of the D-Bus type as"],
  ["(ss)", [["a"]], "not of the D-Bus type (ss)"],
  ["ss", ["a"], '1 values for the signature "ss"'],
])("%s %# is refused", (signature, values, words) => {
  expect(() => marshal(signature, values)).toThrow(words);
});
