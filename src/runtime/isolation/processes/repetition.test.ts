import { describe, expect, it } from "vitest";
import { Rate } from "./repetition.ts";

describe("a rate of three in a row and one in a second", () => {
  const times = (rate: Rate, ...at: number[]) => at.map((now) => rate.take(now));

  it("ends a row at its third", () => {
    expect(times(new Rate(3, 1000, 0), 0, 1, 2, 3, 999)).toEqual([true, true, true, false, false]);
  });

  it("goes on once in a second, however often it is asked", () => {
    const rate = new Rate(3, 1000, 0);
    times(rate, 0, 0, 0);
    const taken = Array.from({ length: 100 }, (_, index) => rate.take(100 + index * 100)).filter(Boolean);
    expect(taken).toHaveLength(10);
  });

  it("has no more than a row after a long time", () => {
    const rate = new Rate(3, 1000, 0);
    times(rate, 0, 0, 0);
    expect(times(rate, 1_000_000, 1_000_000, 1_000_000, 1_000_000)).toEqual([true, true, true, false]);
  });
});
