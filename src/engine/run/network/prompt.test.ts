import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Prompt } from "./prompt.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const OPTIONS = { leastMs: 50, mostMs: 1500, quietMs: 5000 };

test("work is done at once, and under constant demand after 50, 100, 200 ms and so on, at last every 1.5 s; quiet makes it prompt again", async () => {
  const at: number[] = [];
  const begun = performance.now();
  const prompt = new Prompt(OPTIONS, async () => void at.push(performance.now() - begun));
  prompt.ask();
  for (let ms = 0; ms < 10_000; ms++) {
    await vi.advanceTimersByTimeAsync(1);
    prompt.ask();
  }
  const between = at.slice(1).map((one, index) => Math.round(one - at[index]!));
  expect(between.slice(0, 6).map((one) => Math.floor(one / 50) * 50)).toEqual([50, 100, 200, 400, 800, 1500]);
  expect(at.length).toBeLessThan(12);
  await vi.advanceTimersByTimeAsync(7_000);
  const count = at.length;
  prompt.ask();
  await vi.advanceTimersByTimeAsync(1);
  expect(at.length).toBe(count + 1);
  prompt.stop();
  prompt.ask();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(at.length).toBe(count + 1);
});

test("what is asked for during the work is done once more after it, and work never overlaps", async () => {
  const ends: (() => void)[] = [];
  const prompt = new Prompt(OPTIONS, () => new Promise<void>((resolve) => void ends.push(resolve)));
  prompt.ask();
  await vi.advanceTimersByTimeAsync(0);
  for (let at = 0; at < 3; at++) prompt.ask();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ends.length).toBe(1);
  ends[0]!();
  await vi.advanceTimersByTimeAsync(100);
  expect(ends.length).toBe(2);
  ends[1]!();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ends.length).toBe(2);
});
