import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type RecordWatch, watchRecord } from "./watch-record.ts";

let open: RecordWatch[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const watch of open) watch.close();
  open = [];
  vi.useRealTimers();
});

/** Watches of files that never change, and how often they ring in so many seconds. */
async function rings(count: number, seconds: number): Promise<number> {
  let rung = 0;
  const follow = async (watch: RecordWatch) => {
    for (;;) {
      await watch.changed();
      rung++;
    }
  };
  open = Array.from({ length: count }, () => watchRecord("/nowhere/record.json"));
  for (const watch of open) void follow(watch);
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  return rung;
}

test("one is looked at twice a second", async () => {
  expect(await rings(1, 10)).toBe(20);
});

test("many are not looked at more than 200 times a second together, and none is left out", async () => {
  expect(await rings(1000, 5)).toBe(1000);
});

test("one that is closed rings no more, and does not count", async () => {
  open = Array.from({ length: 1000 }, () => watchRecord("/nowhere/record.json"));
  for (const watch of open) watch.close();
  expect(await rings(1, 10)).toBe(20);
});
