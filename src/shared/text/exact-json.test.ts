import fc from "fast-check";
import { expect, test } from "vitest";
import { exactJson, parseExactJson } from "./exact-json.ts";

test.each([
  ["18446744073709551615", 18_446_744_073_709_551_615n],
  ["-9223372036854775808", -9_223_372_036_854_775_808n],
  ["9007199254740991", 9_007_199_254_740_991],
  ["9007199254740993", 9_007_199_254_740_993n],
  ["0.12345678901234567890", 0.123_456_789_012_345_68],
  ["1234567890123456789e3", Number("1234567890123456789e3")],
  ['"18446744073709551615"', "18446744073709551615"],
  ['"\\"18446744073709551615"', '"18446744073709551615'],
  ['{"@integer":18446744073709551615}', { "@integer": 18_446_744_073_709_551_615n }],
])("%s", (text, value) => {
  expect(parseExactJson(text)).toEqual(value);
  expect(parseExactJson(exactJson(value))).toEqual(value);
});

test("the rest is what JSON.parse and JSON.stringify make of it", () => {
  const asDoubles = (value: unknown): unknown => JSON.parse(exactJson(value));
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(asDoubles(parseExactJson(text))).toEqual(JSON.parse(text));
      expect(exactJson(JSON.parse(text))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("an error is that of JSON.parse", () => {
  expect(() => parseExactJson('{"a": 18446744073709551615,}')).toThrow(SyntaxError);
});
