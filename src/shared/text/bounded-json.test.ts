import { expect, test } from "vitest";
import { boundedJson } from "./bounded-json.ts";

test("JSON is what it is, brackets and quotes in texts, too", () => {
  for (const value of [1, "x", "[{,", 'a"b', "a\\", { a: [1, { b: ']\\"}' }] }, null, Array.from({ length: 1000 }, () => "{".repeat(100))])
    expect(boundedJson(JSON.stringify(value))).toEqual(value);
  expect(() => boundedJson("{")).toThrow(SyntaxError);
  expect(() => boundedJson('"')).toThrow(SyntaxError);
});

test("what nests more deeply than any request, or has more values, is not parsed", () => {
  expect(boundedJson("[".repeat(101) + "]".repeat(101))).toBeUndefined();
  expect(boundedJson("[".repeat(4_000_000))).toBeUndefined();
  expect(boundedJson(`{"a":[${"[],".repeat(150_000)}1]}`)).toBeUndefined();
  expect(boundedJson('{"a":'.repeat(100_000))).toBeUndefined();
});

test("backslashes before quotes take linear time", () => {
  const text = JSON.stringify('\\"'.repeat(500_000));
  expect(boundedJson(text)).toBe('\\"'.repeat(500_000));
});
