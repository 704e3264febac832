/** How processes are scheduled, as a program of the host sees it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../support/config.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { program } from "../support/programs.ts";
import { hierarchyOf, isUnified, removeCgroups } from "./cgroups.ts";
import type { Context } from "./context.ts";

export interface Scheduling {
  /** SCHED_* by number (sched(7)). */
  readonly policy: number;
  /** SCHED_FLAG_*. */
  readonly flags: number;
  readonly nice: number;
  readonly priority: number;
  /** Nanoseconds, of SCHED_DEADLINE. */
  readonly runtime: number;
  readonly deadline: number;
  readonly period: number;
  /** IOPRIO_CLASS_* and the level in it: "2:4". */
  readonly io: string;
}

export function schedulingOf(pid: number): Scheduling {
  const words = execFileSync(program("scheduling"), [String(pid)], { encoding: "utf8" })
    .trim()
    .split(" ");
  const fields = new Map(words.map((word) => word.split("=") as [string, string]));
  const number = (name: string) => Number(fields.get(name));
  return {
    policy: number("policy"),
    flags: number("flags"),
    nice: number("nice"),
    priority: number("priority"),
    runtime: number("runtime"),
    deadline: number("deadline"),
    period: number("period"),
    io: fields.get("io") ?? "",
  };
}

/** Microseconds of real-time work in a period, for a container. A group that is gone gives its share back late: all are small. */
const PERIOD = 100_000;
const RUNTIME = 1_000;
/** The same for the levels above it, by depth, in a period of a second. */
const RUNTIMES_ABOVE = [450_000, 80_000];

/**
 * Let SCHED_FIFO and SCHED_RR be used in the container's cgroup: with v1 each level has to be given time (sched-rt-group), the upper ones by
 * whoever owns them. With a unified hierarchy nothing is needed.
 */
export function roomForRealTime(c: Context, config: Config): void {
  const cpu = isUnified() ? undefined : hierarchyOf("cpu");
  if (cpu === undefined || !existsSync(join(cpu, "cpu.rt_runtime_us"))) return;
  const path = join(cpu, c.cgroup);
  c.cleanup(() => removeCgroups(c.cgroup));
  mkdirSync(path, { recursive: true });
  for (const [depth, directory] of [dirname(path), path].entries())
    give(join(directory, "cpu.rt_runtime_us"), String(RUNTIMES_ABOVE[depth]));
  config.linux.resources["cpu"] = { realtimeRuntime: RUNTIME, realtimePeriod: PERIOD };
}

const PAUSE_MS = 20;

/** What others on the host have had is there again a little later: until then the kernel says EINVAL. */
function give(file: string, runtime: string): void {
  for (const end = Date.now() + PATIENCE_MS; ; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)) {
    try {
      writeFileSync(file, runtime);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EINVAL" || Date.now() > end) throw error;
    }
  }
}
