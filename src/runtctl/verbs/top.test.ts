import { expect, test } from "vitest";
import type { UsageView } from "../../engine/index.ts";
import { plain } from "../output/style.ts";
import { cpuPercent, liveTable } from "./top.ts";

const look = (fields: Partial<UsageView>): UsageView => ({
  ...{ task: "default.web.1", group: "default", name: "web", container: "main", atMs: 0, clockMs: 0, cpuUs: 0 },
  ...{ memoryBytes: null, memoryLimitBytes: null, processes: null, readBytes: null, writtenBytes: null, oomKills: null },
  ...fields,
});
const DAY = 86_400_000;

test.each([0, DAY, -DAY])("percent of one processor, when the wall clock was moved by %i ms meanwhile", (moved) => {
  const before = look({ atMs: 2 * DAY, clockMs: 5_000, cpuUs: 1_000_000 });
  const now = look({ atMs: 2 * DAY + 1_000 + moved, clockMs: 6_000, cpuUs: 1_250_000 });
  expect(cpuPercent(now, [look({ container: "other" }), before])).toBe(25);
});

test("without a look before, or without accounting, there is none; a counter that begins anew is no negative use", () => {
  const before = look({ clockMs: 1_000, cpuUs: 9_000_000 });
  expect(cpuPercent(look({ clockMs: 2_000 }), [])).toBe(undefined);
  expect(cpuPercent(look({ clockMs: 2_000, cpuUs: null }), [before])).toBe(undefined);
  expect(cpuPercent(look({ clockMs: 1_000, cpuUs: 9_000_000 }), [before])).toBe(undefined);
  expect(cpuPercent(look({ clockMs: 2_000, cpuUs: 10_000 }), [before])).toBe(0);
});

test("the live table fits on the terminal: bars go first, then counts, then the ends of names", () => {
  const usage = look({
    memoryBytes: 300 << 20,
    memoryLimitBytes: 1 << 30,
    processes: 12,
    readBytes: 5 << 20,
    writtenBytes: 7 << 20,
    cpuUs: 1,
  });
  const shown = (width: number, fields: Partial<UsageView> = {}) =>
    liveTable([{ ...usage, ...fields }], { before: [], processors: 2, style: plain, width }).split("\n");
  expect(shown(200)[0]).toMatch(/^TASK +CONTAINER +CPU +MEMORY +LIMIT +PROCESSES +READ +WRITTEN$/);
  expect(shown(200)[1]).toContain("█");
  for (const width of [80, 72, 60, 40]) expect(shown(width).filter((line) => line.length > width)).toEqual([]);
  expect(shown(80)[0]).toMatch(/^TASK +CONTAINER +CPU +MEMORY +LIMIT +PROCESSES +READ +WRITTEN$/);
  expect(shown(80)[1]).not.toMatch(/█.*█/);
  const long = shown(80, { name: "n".repeat(63), container: "c".repeat(63) });
  expect(long.filter((line) => line.length > 80)).toEqual([]);
  expect(long[1]).toMatch(/^n+… +c+… +- +300Mi$/);
});
