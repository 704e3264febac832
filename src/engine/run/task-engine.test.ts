import { expect, test } from "vitest";
import { untilDone, waitMs } from "./task-engine.ts";

const waits = { firstMs: 2_000, longestMs: 200_000, factor: 1.5, jitter: 0.2 };

test("E3 waits grow by half each time, up to the longest, and are at most a fifth longer", () => {
  expect([0, 1, 2, 3].map((failures) => waitMs(failures, waits, 0))).toEqual([2_000, 3_000, 4_500, 6_750]);
  expect(waitMs(50, waits, 0)).toBe(200_000);
  expect(waitMs(50, waits, 1)).toBe(240_000);
});

test("E3 only the first failure is told; what cannot pass is thrown", async () => {
  const told: unknown[] = [];
  const waited: number[] = [];
  let tries = 0;
  const retry = {
    waits: { ...waits, jitter: 0 },
    mayPass: (error: unknown) => error !== "final",
    failed: (error: unknown) => void told.push(error),
    wait: async (ms: number) => void waited.push(ms),
  };
  const done = await untilDone(async () => {
    if (++tries < 4) throw `failure ${tries}`;
    return tries;
  }, retry);
  expect([done, told, waited]).toEqual([4, ["failure 1"], [2_000, 3_000, 4_500]]);
  await expect(untilDone(() => Promise.reject("final"), retry)).rejects.toBe("final");
});
