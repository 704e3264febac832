import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Meter } from "./meter.ts";

const DAY_MS = 86_400_000;
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-meter-"));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

/** Of both, half is of the system. */
function use(us: number): void {
  writeFileSync(join(directory, "cpu.stat"), `usage_usec ${us}\nuser_usec ${us / 2}\nsystem_usec ${us / 2}\n`);
}

const meter = (ageMs: number) => new Meter({ version: 2, paths: [directory] }, ageMs);

test("the first value is since the program began", async () => {
  use(2_500_000);
  const { total, user } = (await meter(10_000).read()).cpu.percent!;
  expect(total).toBeCloseTo(25, 0);
  expect(user).toBeCloseTo(12.5, 0);
});

test.each([DAY_MS, -DAY_MS])("the clock of the wall is set by %i ms between two looks", async (moved) => {
  use(0);
  const began = performance.now();
  const own = meter(10_000);
  await own.read();
  await sleep(200);
  use(100_000);
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + moved);
  const percent = (await own.read()).cpu.percent?.total;
  // A busy machine makes the time between the looks longer, but never longer than this.
  const least = 100 * (100 / (performance.now() - began));
  expect(percent).toBeGreaterThanOrEqual(least * 0.99);
  expect(percent).toBeLessThanOrEqual(100 * (100 / 200) * 1.05);
});

test("processes are looked at only if they are asked for", async () => {
  use(0);
  writeFileSync(join(directory, "cgroup.procs"), `${process.pid}\n`);
  expect((await meter(10_000).read()).processes).toHaveLength(1);
  expect((await meter(10_000).read(false)).processes).toEqual([]);
});
