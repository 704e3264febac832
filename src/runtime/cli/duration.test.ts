import { expect, test } from "vitest";
import { parseDuration } from "./duration.ts";

test.each([
  ["5s", 5000],
  ["100ms", 100],
  ["1m30s", 90_000],
  ["1.5h", 5_400_000],
  [".5s", 500],
  ["1.s", 1000],
  ["250us", 0.25],
  ["250µs", 0.25],
  ["1000000ns", 1],
  ["0", 0],
  ["0s", 0],
  ["-3s", -3000],
  ["+3s", 3000],
])("%s", (text, milliseconds) => {
  expect(parseDuration(text)).toBeCloseTo(milliseconds, 9);
});

test.each(["", "5", "s", "5 s", "5d", "1m 30s", "five", "-", "1e3s"])("%j is none", (text) => {
  expect(parseDuration(text)).toBeUndefined();
});
