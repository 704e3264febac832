import { expect, test } from "vitest";
import { ioWeight } from "./block-io.ts";

test.each([
  [10, 1],
  [500, 4950],
  [750, 7475],
  [1000, 10000],
])("blkio weight %d is io.weight %d", (weight, converted) => {
  expect(ioWeight(weight)).toBe(converted);
});
