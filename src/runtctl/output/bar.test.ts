import { expect, test } from "vitest";
import { bar, bytes } from "./bar.ts";

test.each([
  [0, "    "],
  [0.5, "██  "],
  [0.53125, "██▏ "],
  [1, "████"],
  [7, "████"],
  [-1, "    "],
  [Number.NaN, "    "],
])("%d is %j", (share, text) => {
  expect(bar(share, 4)).toBe(text);
});

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1.0Ki"],
  [65_536, "64Ki"],
  [5 * 1024 ** 3, "5.0Gi"],
  [3 * 1024 ** 4, "3.0Ti"],
])("%d bytes are %s", (count, text) => {
  expect(bytes(count)).toBe(text);
});
