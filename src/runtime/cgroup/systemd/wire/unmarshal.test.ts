import { describe, expect, test } from "vitest";
import { marshal } from "./marshal.ts";
import type { Value } from "./types.ts";
import { unmarshal } from "./unmarshal.ts";

const bytes = (hex: string) => Uint8Array.from(hex.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));

const EVERYTHING: readonly (readonly [string, Value])[] = [
  ["y", 255],
  ["b", true],
  ["n", -32_768],
  ["q", 65_535],
  ["i", -2_147_483_648],
  ["u", 4_294_967_295],
  ["x", -(1n << 63n)],
  ["t", (1n << 64n) - 1n],
  ["d", -0.125],
  ["s", "ä 😀"],
  ["o", "/"],
  ["g", "a{sv}"],
  ["v", { signature: "as", value: ["a", "b"] }],
  ["ay", Uint8Array.of(0, 255)],
  ["as", []],
  ["a(sv)", [["PIDs", { signature: "au", value: [1, 2] }]]],
  ["a{s(tt)}", [["k", [1n, 2n]]]],
  ["(y(n(x)))", [1, [2, [3n]]]],
];

test.each(EVERYTHING)("%s comes back as it was", (signature, value) => {
  // An odd start for the padding.
  expect(unmarshal(`y${signature}y`, marshal(`y${signature}y`, [9, value, 8]))).toEqual([9, value, 8]);
});

test("all of them in one body", () => {
  const signature = EVERYTHING.map(([one]) => one).join("");
  const values = EVERYTHING.map(([, value]) => value);
  expect(unmarshal(signature, marshal(signature, values))).toEqual(values);
});

test("big endian", () => {
  expect(unmarshal("qus", bytes("0102 0000 00000003 00000001 6100"), false)).toEqual([0x0102, 3, "a"]);
});

describe("hostile bytes", () => {
  test.each([
    ["u", "010000", "cut short"],
    ["s", "ffffffff 6100", "cut short"],
    ["s", "01000000 6161", "without its NUL"],
    ["s", "03000000 610062 00", "with a NUL"],
    ["s", "01000000 ff00", "not UTF-8"],
    ["b", "02000000", "boolean 2"],
    ["yu", "01000001 00000000", "padding that is not zero"],
    ["o", "01000000 6100", "not a D-Bus object path"],
    ["g", "01 28 00", "not a D-Bus signature"],
    ["v", "02 7575 00 01000000 01000000", "not one type"],
    ["ai", "ffffff7f 00000000", "more than 64 MiB"],
    ["ai", "08000000 00000000", "cut short"],
    ["ai", "05000000 00000000 0000000000", "ends inside an element"],
    ["y", "0102", "1 bytes behind the last D-Bus value"],
    ["v", "", "cut short"],
  ])("%s of %s", (signature, hex, words) => {
    expect(() => unmarshal(signature, bytes(hex))).toThrow(words);
  });

  test("variants in variants end", () => {
    expect(() => unmarshal("v", bytes(`${"017600".repeat(200)} 01790005`))).toThrow("nested too deep");
  });

  test("cut anywhere or changed anywhere, it is a value or a RangeError", () => {
    const signature = "a(sv)sa{s(tt)}";
    const whole = marshal(signature, [[["a", { signature: "as", value: ["b"] }]], "text", [["k", [1n, 2n]]]]);
    for (let at = 0; at < whole.length; at++) {
      expect(() => unmarshal(signature, whole.subarray(0, at))).toThrow(RangeError);
      for (const bit of [1, 0x80]) {
        const changed = whole.slice();
        changed[at]! ^= bit;
        try {
          unmarshal(signature, changed);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
    }
  });
});
