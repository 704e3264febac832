import { uptime } from "node:os";
import { expect, test } from "vitest";
import { ageOf, ProcessTable, TICKS_PER_SECOND } from "./table.ts";

/** As the kernel has it for a process that began so long ago. */
const ticksAgo = (seconds: number) => String(Math.floor((uptime() - seconds) * TICKS_PER_SECOND));
const age = (wallSeconds: number, seconds: number) =>
  Math.round(ageOf({ startedMs: Date.now() - wallSeconds * 1000, startTicks: ticksAgo(seconds) }) / 1000);

test("since its program was started, which may be later than its first process", () => {
  expect(age(20, 20)).toBe(20);
  expect(age(3, 20)).toBe(3);
});

test("the clock of the wall was set since", () => {
  expect(age(86_400 + 20, 20)).toBe(20);
  expect(age(-86_400 + 20, 20)).toBe(20);
});

test("a table of many processes lets other work go on", async () => {
  const pids = Array.from({ length: 1000 }, () => process.pid);
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const uses = await new ProcessTable().read(pids);
  isOver = true;
  expect(uses).toHaveLength(1000);
  expect(uses[0]).toMatchObject({ pid: process.pid, rssBytes: expect.any(Number) });
  expect(turns).toBeGreaterThan(5);
});
