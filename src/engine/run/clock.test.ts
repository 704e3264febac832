import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Repeating } from "./clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a turn begins with each interval, and not while another one is under way", async () => {
  const ends: (() => void)[] = [];
  const repeating = new Repeating(1000, () => new Promise((resolve) => void ends.push(resolve)));
  await vi.advanceTimersByTimeAsync(3500);
  expect(ends).toHaveLength(1);
  ends[0]!();
  await vi.advanceTimersByTimeAsync(1000);
  expect(ends).toHaveLength(2);
  repeating.stop();
  ends[1]!();
  await vi.advanceTimersByTimeAsync(5000);
  expect(ends).toHaveLength(2);
});
