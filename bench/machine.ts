/** The machine that the figures were measured on. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

export const UNIFIED = "cgroup v2";

export interface Machine {
  readonly processors: string;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly cgroups: string;
  /** Load average of one minute at the start. */
  readonly load: number;
  readonly binaryBytes: number;
  readonly commit: string;
  readonly date: string;
}

export function machine(binary: string): Machine {
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown processor";
  const hierarchies = readFileSync("/proc/self/cgroup", "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("0::")).length;
  return {
    processors: `${cpus().length} x ${cpu}`,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: `Linux ${release()}`,
    cgroups: existsSync("/sys/fs/cgroup/cgroup.controllers") ? UNIFIED : `cgroup v1, ${hierarchies} hierarchies`,
    load: Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]),
    binaryBytes: statSync(binary).size,
    commit: /^commit: (\S+)/m.exec(execFileSync(binary, ["--version"], { encoding: "utf8" }))?.[1] ?? "unknown",
    date: new Date().toISOString().slice(0, 10),
  };
}

export function describe({ processors, memoryGib, kernel, cgroups, load, commit, date }: Machine): string {
  return `${processors}, ${memoryGib} GiB, ${kernel}, ${cgroups}; load ${load.toFixed(1)} at the start; commit ${commit.slice(0, 12)}, ${date}`;
}
