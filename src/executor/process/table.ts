/** Every process of a container with what it uses; CPU shares are between this look and the one before. */

import { uptime } from "node:os";
import type { ProcessState } from "../types.ts";
import { processStat, readProc, slices } from "./procfs.ts";

/** sysconf(_SC_CLK_TCK): what Linux shows to user space on x86-64 and arm64. */
export const TICKS_PER_SECOND = 100;

export interface ProcessUse {
  readonly pid: number;
  readonly startTicks: string;
  readonly command: string;
  readonly rssBytes: number;
  /** Absent where the kernel does not tell. */
  readonly swapBytes?: number;
  /** Percent of one CPU since the last look; absent at the first look at a process. */
  readonly cpu?: { readonly userPercent: number; readonly systemPercent: number; readonly totalPercent: number };
}

interface Look {
  readonly atMs: number;
  readonly startTicks: string;
  readonly userTicks: number;
  readonly systemTicks: number;
}

export class ProcessTable {
  #looks = new Map<number, Look>();

  /** The processes of these pids. A pid that belongs to another process than last time starts anew. */
  async read(pids: readonly number[]): Promise<ProcessUse[]> {
    const [earlier, looks] = [this.#looks, new Map<number, Look>()];
    const uses: ProcessUse[] = [];
    const turn = slices();
    for (const pid of pids) {
      const stat = processStat(pid);
      if (stat !== undefined) {
        const before = earlier.get(pid);
        const { startTicks, userTicks, systemTicks } = stat;
        const look = { atMs: performance.now(), startTicks, userTicks, systemTicks };
        looks.set(pid, look);
        const isSame = before?.startTicks === startTicks && look.atMs > before.atMs;
        uses.push({ pid, startTicks, ...memoryOf(pid), ...(isSame ? { cpu: share(before, look) } : {}) });
      }
      await turn();
    }
    this.#looks = looks;
    return uses;
  }
}

function memoryOf(pid: number): Pick<ProcessUse, "command" | "rssBytes" | "swapBytes"> {
  // In kB, unlike those of stat, which are in pages: of 4, 16 or 64 KiB on arm64.
  const status = readProc(pid, "status") ?? "";
  const swap = kilobytes(status, "VmSwap");
  return {
    command: (readProc(pid, "comm") ?? "").trimEnd(),
    rssBytes: (kilobytes(status, "VmRSS") ?? 0) * 1024,
    ...(swap === undefined ? {} : { swapBytes: swap * 1024 }),
  };
}

/** undefined: a kernel thread or a zombie, which has no memory; or a kernel that does not tell. */
function kilobytes(status: string, field: "VmRSS" | "VmSwap"): number | undefined {
  const value = new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(status)?.[1];
  return value === undefined ? undefined : Number(value);
}

function share(before: Look, after: Look): NonNullable<ProcessUse["cpu"]> {
  const ticks = ((after.atMs - before.atMs) / 1000) * TICKS_PER_SECOND;
  const userPercent = ((after.userTicks - before.userTicks) / ticks) * 100;
  const systemPercent = ((after.systemTicks - before.systemTicks) / ticks) * 100;
  return { userPercent, systemPercent, totalPercent: userPercent + systemPercent };
}

const MS_PER_TICK = 1000 / TICKS_PER_SECOND;

/**
 * How many milliseconds a program has run, independent of changes of the wall clock. Its start was recorded by the clock of the wall; that of its first process, which is not later, is counted by the kernel since the boot.
 * Where the two do not fit, the clock was set since.
 */
export function ageOf({ startedMs, startTicks }: Pick<ProcessState, "startedMs" | "startTicks">): number {
  const most = Math.max(0, uptime() * 1000 - Number(startTicks) * MS_PER_TICK);
  const told = Date.now() - startedMs;
  return told > 0 && told < most ? told : most;
}
