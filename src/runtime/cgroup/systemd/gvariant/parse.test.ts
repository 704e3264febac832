import { describe, expect, test } from "vitest";
import type { Value } from "../wire/types.ts";
import { parseGvariant } from "./parse.ts";

/** Text, signature, value: the examples of GLib's documentation and of runc's, systemd's and Podman's. */
const TABLE: readonly (readonly [string, string, Value])[] = [
  ["true", "b", true],
  ["false", "b", false],
  ["5", "i", 5],
  ["-5", "i", -5],
  ["+5", "i", 5],
  ["0x1F", "i", 31],
  ["017", "i", 15],
  ["0", "i", 0],
  ["uint64 123456789", "t", 123_456_789n],
  ["uint64 18446744073709551615", "t", (1n << 64n) - 1n],
  ["int64 -9223372036854775808", "x", -(1n << 63n)],
  ["@t 7", "t", 7n],
  ["byte 0xff", "y", 255],
  ["int16 -1", "n", -1],
  ["uint16 9", "q", 9],
  ["uint32 9", "u", 9],
  ["1.5", "d", 1.5],
  ["1e3", "d", 1000],
  ["-.5", "d", -0.5],
  ["double 3", "d", 3],
  ["inf", "d", Number.POSITIVE_INFINITY],
  ["-inf", "d", Number.NEGATIVE_INFINITY],
  ["boolean true", "b", true],
  ["'inactive-or-failed'", "s", "inactive-or-failed"],
  ['"it\'s"', "s", "it's"],
  ["'it\\'s \\\\ \\n \\u00e4\\U0001f600'", "s", "it's \\ \n ä😀"],
  ["string ''", "s", ""],
  ["objectpath '/a/b'", "o", "/a/b"],
  ["signature 'a(sv)'", "g", "a(sv)"],
  ["b'ab\\001'", "ay", Uint8Array.of(97, 98, 1, 0)],
  ["[1, 2, 3]", "ai", [1, 2, 3]],
  ["[uint64 1, 2]", "at", [1n, 2n]],
  ["[1, uint64 2]", "at", [1n, 2n]],
  ["[1, 2.5]", "ad", [1, 2.5]],
  ["['a', 'b']", "as", ["a", "b"]],
  ["[byte 0x0f, 1]", "ay", Uint8Array.of(15, 1)],
  ["@ay [1, 2]", "ay", Uint8Array.of(1, 2)],
  ["@as []", "as", []],
  ["[@as [], ['x']]", "aas", [[], ["x"]]],
  ["('a', 1)", "(si)", ["a", 1]],
  ["(1,)", "(i)", [1]],
  ["[('/dev/null', 'rw')]", "a(ss)", [["/dev/null", "rw"]]],
  [
    "{'a': <1>, 'b': <'x'>}",
    "a{sv}",
    [
      ["a", { signature: "i", value: 1 }],
      ["b", { signature: "s", value: "x" }],
    ],
  ],
  [
    "{1: 'a', 2: 'b'}",
    "a{is}",
    [
      [1, "a"],
      [2, "b"],
    ],
  ],
  ["@a{sv} {}", "a{sv}", []],
  ["<uint32 5>", "v", { signature: "u", value: 5 }],
  ["<<'x'>>", "v", { signature: "v", value: { signature: "s", value: "x" } }],
  ["  [ 1 ,\n 2 ]\t", "ai", [1, 2]],
];

test.each(TABLE)("%s", (text, signature, value) => {
  expect(parseGvariant(text)).toEqual({ signature, value });
});

test("nan", () => {
  expect(parseGvariant("nan").value).toBeNaN();
});

describe("refused", () => {
  test.each([
    ["", "ends too early"],
    ["   ", "ends too early"],
    ["hello", 'unexpected "h" at character 1'],
    ["5x", 'unexpected "5"'],
    ["5 6", 'unexpected "6" at character 3'],
    ["'abc", "without its end"],
    ["'a\\x'", "unknown escape \\x"],
    ["'\\u12'", "unknown escape"],
    ["'\\ud800'", "unknown escape"],
    ["'\\u0000'", "unknown escape"],
    ["'a\0'", "NUL"],
    ["'\ud800'", "surrogate"],
    ["b'ä€'", "no byte"],
    ["b'\\777'", "no byte"],
    ["[1, 2", "ends too early"],
    ["[1 2]", 'unexpected "2"'],
    ["[1,,2]", 'unexpected ","'],
    ["[]", "needs its type"],
    ["{}", "needs its type"],
    ["()", "a structure is"],
    ["(1)", "a structure is"],
    ["(1, 2,)", "a structure is"],
    ["[1, 'a']", "not of the type"],
    ["[uint64 1, int64 2]", "not of the type t"],
    ["{'a', 1}", "an entry outside"],
    ["{[1]: 2}", "not of a basic type"],
    ["<>", 'unexpected ">"'],
    ["<1", "ends too early"],
    ["byte 256", "does not fit"],
    ["uint64 -1", "does not fit"],
    ["uint64 18446744073709551616", "does not fit"],
    ["2147483648", "does not fit"],
    ["uint32 1.5", "not an integer"],
    ["08", "not an integer"],
    ["uint64 'a'", "not of the type t"],
    ["boolean 1", "not of the type b"],
    ["string 1", "not of the type s"],
    ["objectpath 'x'", "not an object path"],
    ["signature '('", "not a D-Bus signature"],
    ["handle 1", 'unexpected "h"'],
    ["@h 1", "not a D-Bus signature"],
    ["@ms nothing", "not a D-Bus signature"],
    ["just 'x'", 'unexpected "j"'],
    ["@as ['a', 1]", "not of the type s"],
    ["@(ss) ('a',)", "not of the type (ss)"],
    ["__proto__ 1", "unexpected"],
    ["constructor 1", 'unexpected "c"'],
    ["[".repeat(40), "nested too deep"],
    ["<".repeat(100_000), "longer than"],
    [`'${"x".repeat(70_000)}'`, "longer than"],
  ])("%.30s", (text, words) => {
    expect(() => parseGvariant(text)).toThrow(words);
    expect(() => parseGvariant(text)).toThrow(RangeError);
  });

  test("any text is a value or a RangeError", () => {
    const pieces = [
      "[",
      "]",
      "(",
      ")",
      "{",
      "}",
      "<",
      ">",
      ",",
      ":",
      "1",
      "-",
      "'a'",
      "@as",
      "uint64",
      "b'x'",
      " ",
      "\\",
      "'",
      "true",
      "0x",
    ];
    let seed = 1;
    const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648);
    for (let round = 0; round < 5_000; round++) {
      const text = Array.from({ length: 1 + (next() % 12) }, () => pieces[next() % pieces.length]).join("");
      try {
        parseGvariant(text);
      } catch (error) {
        expect(error, text).toBeInstanceOf(RangeError);
      }
    }
  });
});
