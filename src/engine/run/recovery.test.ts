import { expect, test } from "vitest";
import { instantOf } from "./recovery.ts";

const now = { bootId: "b", bootMs: 1_000_000, wallMs: 1e12 };
/** Of a program whose first process was started 500 s after the boot. */
const startOf = (startedMs: number) => instantOf({ startedMs, startTicks: "50000" }, now).bootMs;

test("a start that only the runtime knows is told by the clock of the wall, unless that was set since", () => {
  expect(startOf(now.wallMs - 400_000)).toBe(600_000);
  for (const years of [-30, 30]) expect(startOf(now.wallMs + years * 31_536_000_000)).toBe(500_000);
});
