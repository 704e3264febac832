import { expect, test } from "vitest";
import { compare, median, parseRounds, quantile, summarize } from "./stats.ts";

test("median, percentile and minimum do not depend on the order", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(summarize([5, 1, 4, 2, 3])).toEqual({ median: 3, p95: 5, minimum: 1 });
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(quantile(hundred, 0.95)).toBe(96);
});

test("nothing measured is no number", () => {
  expect(median([])).toBeNaN();
  expect(summarize([]).minimum).toBeNaN();
});

test("ratios are those of runt to its peer, in milliseconds", () => {
  const result = compare(parseRounds("1000000 100 2000000 50\n3000000 120 2000000 60\n2000000 110 8000000 70\n"));
  expect(result.own).toEqual({ median: 2, p95: 3, minimum: 1 });
  expect(result.peer).toEqual({ median: 2, p95: 8, minimum: 2 });
  expect(result).toMatchObject({ rounds: 3, ratio: 1, minimumRatio: 0.5, rssKib: [110, 60] });
});

test("a line that is no round is an error", () => {
  expect(() => parseRounds("1 2 3\n")).toThrow("not a round: 1 2 3");
  expect(() => parseRounds("1 2 three 4\n")).toThrow("not a round");
});
