import { expect, test } from "vitest";
import { accepted } from "./accepting.ts";

/** How long it takes, in milliseconds. */
async function lasts(count: (() => Promise<number>) | undefined, most = 300): Promise<number> {
  const begun = performance.now();
  await accepted(count, { least: 100, most, betweenLooks: 10 });
  // A timer may be early by less than a millisecond.
  return performance.now() - begun + 1;
}

test("R8 connections that the program of a task has not accepted are awaited, and one that does not accept keeps it for a while only", async () => {
  const counts = [3, 3, 1];
  expect(await lasts(async () => counts.shift() ?? 0, 1_000_000)).toBeGreaterThanOrEqual(130);
  expect(counts).toEqual([]);
  expect(await lasts(async () => 1)).toBeGreaterThanOrEqual(300);
});

test("R8 what cannot be counted, or not in time, keeps the task for a while only", async () => {
  expect(await lasts(undefined, 1_000_000)).toBeGreaterThanOrEqual(100);
  expect(await lasts(() => Promise.reject(new Error("no more descriptors")))).toBeGreaterThanOrEqual(300);
  expect(await lasts(() => new Promise(() => {}))).toBeGreaterThanOrEqual(300);
});
