/** How long a program has run, independent of changes of the wall clock. */
import { uptime } from "node:os";
import type { ProcessState } from "../types.ts";
import { TICKS_PER_SECOND } from "./table.ts";

const MS_PER_TICK = 1000 / TICKS_PER_SECOND;

/**
 * Milliseconds. Its start was recorded by the clock of the wall; that of its first process, which is not later, is counted by the kernel since the boot.
 * Where the two do not fit, the clock was set since.
 */
export function ageOf({ startedMs, startTicks }: Pick<ProcessState, "startedMs" | "startTicks">): number {
  const most = Math.max(0, uptime() * 1000 - Number(startTicks) * MS_PER_TICK);
  const told = Date.now() - startedMs;
  return told > 0 && told < most ? told : most;
}
