/** Rows X12, X13 and X19: what a container runs and uses, beside what the kernel says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { isAlive } from "../../src/executor/process/procfs.ts";
import { statsV1, statsV2 } from "../../src/executor/stats/meter.ts";
import { cgroupFile, cgroupOf, isUnified } from "../support/cgroups.ts";
import { commandLine, OWN_SECONDS, sleepers } from "./sleepers.ts";
import { isGone, isRoot, row, until, useExecutors } from "./support.ts";

const MIB = 1 << 20;

/** CPU time of its cgroup, by the kernel's own count. */
function usageUs(pid: number): number {
  if (!isUnified) return Number(readFileSync(join(cgroupOf(pid, "cpuacct"), "cpuacct.usage"), "utf8")) / 1000;
  return Number(/^usage_usec (\d+)$/m.exec(readFileSync(join(cgroupOf(pid, "cpu"), "cpu.stat"), "utf8"))?.[1]);
}

describe.skipIf(!isRoot)("executor: processes and statistics (needs root)", () => {
  const { executor, script } = useExecutors();

  row("X12", "the list has every process of the container, including daemons and nested cgroups", async () => {
    const one = executor();
    const { pid } = await one.launch(script("for i in $(seq 20); do (setsid sleep 1000 &) ; done; exec sleep 1000"));
    const inside = () =>
      readFileSync(join(cgroupOf(pid, "pids"), "cgroup.procs"), "utf8")
        .trim()
        .split("\n");
    // The shells between have gone, too.
    await until(() => inside().length === 21 && inside().every((each) => commandLine(each) === "sleep 1000"));
    const expected = inside().map(Number);
    const listed = (await one.stats()).processes;
    expect(listed.map(({ pid: found }) => found)).toEqual(expected.sort((a, b) => a - b));
    const daemons = listed.filter(({ command }) => command === "sleep");
    expect(daemons).toHaveLength(21);
    // One in a cgroup below.
    const running = one.exec({ cmd: "sleep", args: [String(OWN_SECONDS)] });
    await until(() => sleepers(OWN_SECONDS).length === 1);
    expect((await one.stats()).processes).toHaveLength(22);
    for (const each of sleepers(OWN_SECONDS)) process.kill(each, "SIGKILL");
    await running;
  });

  row(
    "X13",
    "a busy process appears with its CPU time and memory, and disappears when it has ended; a reused pid is another process",
    async () => {
      const one = executor();
      const command = "(while :; do :; done) & busy=$!; trap 'kill $busy; exec sleep 1000' TERM; sleep 1000 & while :; do wait; done";
      const { pid: init } = await one.launch(script(command));
      await one.stats();
      const ticks = (pid: number) => {
        const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        return Number(fields[11]) + Number(fields[12]);
      };
      const all = (await one.stats()).processes;
      const before = new Map(all.map(({ pid }) => [pid, [ticks(pid), performance.now()] as const]));
      const burnt = (pid: number) => ticks(pid) - (before.get(pid)?.[0] ?? Number.NaN);
      // Others may have the processors.
      const isBusy = ({ pid }: { pid: number }) => burnt(pid) >= 50;
      await until(() => all.some(isBusy));
      const { processes } = await one.stats();
      const busy = processes.find(isBusy)!;
      const percent = burnt(busy.pid) / ((performance.now() - before.get(busy.pid)![1]) / 1000);
      expect(busy.cpu!.totalPercent).toBeGreaterThan(percent * 0.7 - 5);
      expect(busy.cpu!.totalPercent).toBeLessThan(percent * 1.3 + 5);
      for (const { pid, cpu } of processes) if (pid !== busy.pid) expect(cpu?.totalPercent ?? 0).toBeLessThan(busy.cpu!.totalPercent);
      expect(busy.rssBytes).toBeGreaterThan(4096);
      process.kill(init, "SIGTERM");
      await until(() => isGone(busy.pid));
      expect((await one.stats()).processes.map(({ pid }) => pid)).not.toContain(busy.pid);
      expect(isAlive({ pid: process.pid, startTicks: "1" })).toBe(false);
    },
  );

  row("X19", "stats: memory, CPU, pids and the other values equal those of the kernel's files and of the program", async () => {
    const one = executor();
    const { pid } = await one.launch(
      script("(while :; do :; done) & dd if=/dev/zero bs=20M count=1 | sleep 1000", {
        resources: { memoryBytes: 64 * MIB, cpus: 0.2, pids: 30 },
      }),
    );
    await until(() => Number(readFileSync(cgroupFile(pid, { v1: "memory.usage_in_bytes", v2: "memory.current" }), "utf8")) > 20 * MIB);
    // Others may have the processors: what counts is what the kernel has counted.
    await one.stats();
    const [from, used] = [performance.now(), usageUs(pid)];
    await until(() => usageUs(pid) - used > 100_000);
    const stats = await one.stats();
    const percent = (usageUs(pid) - used) / (performance.now() - from) / 10;
    expect(stats.memory.rssBytes).toBeGreaterThan(20 * MIB * 0.9);
    expect(stats.memory.rssBytes).toBeLessThan(20 * MIB * 1.1);
    expect(stats.memory.limitBytes).toBe(64 * MIB);
    expect(stats.memory.oomKills).toBe(0);
    expect(stats.pids).toEqual({ current: Number(readFileSync(join(cgroupOf(pid, "pids"), "pids.current"), "utf8")), limit: 30 });
    expect(Math.abs(stats.cpu.percent!.total - percent)).toBeLessThan(6);
    expect(stats.cpu.percent!.total).toBeGreaterThan(0);
    expect(percent).toBeLessThan(30);
    const throttled = Number(/^nr_throttled (\d+)$/m.exec(readFileSync(join(cgroupOf(pid, "cpu"), "cpu.stat"), "utf8"))?.[1]);
    expect(stats.cpu.throttledPeriods).toBeLessThanOrEqual(throttled);
    expect(stats.cpu.throttledPeriods).toBeGreaterThan(throttled - 5);
    expect(stats.measured).toEqual(expect.arrayContaining(["cpu.usageUs", "memory.rssBytes", "memory.oomKills", "pids.current"]));
    // What v1 does not have is absent and not named.
    if (!isUnified) {
      expect(stats.pressure).toEqual({});
      expect(stats.measured.filter((name) => name.startsWith("pressure"))).toEqual([]);
    }
    expect(Math.abs(stats.atMs - Date.now())).toBeLessThan(5_000);
  });

  row("X19", "stats: v1 and v2 files with the same content give the same numbers (golden)", () => {
    const v1: Record<string, string> = {
      "cpuacct.usage": "1500000000\n",
      "cpuacct.stat": "user 100\nsystem 50\n",
      "cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 2000000\n",
      "memory.stat": "cache 1\nrss 2\nswap 3\ntotal_cache 4096\ntotal_rss 8192\ntotal_swap 12288\n",
      "memory.usage_in_bytes": "20480\n",
      "memory.max_usage_in_bytes": "40960\n",
      "memory.limit_in_bytes": "65536\n",
      "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
      "pids.current": "3\n",
      "pids.max": "max\n",
      "blkio.throttle.io_service_bytes_recursive": "8:0 Read 100\n8:0 Write 200\n8:16 Read 1\n8:16 Write 2\nTotal 303\n",
      "blkio.throttle.io_serviced_recursive": "8:0 Read 5\n8:0 Write 6\nTotal 11\n",
    };
    const v2: Record<string, string> = {
      "cpu.stat": "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 2000\n",
      "memory.stat": "anon 8192\nfile 4096\n",
      "memory.swap.current": "12288\n",
      "memory.current": "20480\n",
      "memory.peak": "40960\n",
      "memory.max": "65536\n",
      "memory.events": "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n",
      "pids.current": "3\n",
      "pids.max": "max\n",
      "io.stat": "8:0 rbytes=100 wbytes=200 rios=5 wios=6 dbytes=0 dios=0\n8:16 rbytes=1 wbytes=2 rios=0 wios=0\n",
      "memory.pressure": "some avg10=1.50 avg60=0.25 avg300=0.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=45\n",
    };
    const one = statsV1((_, file) => v1[file]);
    const two = statsV2((_, file) => v2[file]);
    expect(two.pressure.memory).toEqual({
      some: { avg10: 1.5, avg60: 0.25, avg300: 0, totalUs: 123 },
      full: { avg10: 0, avg60: 0, avg300: 0, totalUs: 45 },
    });
    expect({ ...two, pressure: {} }).toEqual(one);
    expect(one.cpu).toEqual({
      usageUs: 1_500_000,
      userUs: 1_000_000,
      systemUs: 500_000,
      periods: 10,
      throttledPeriods: 4,
      throttledUs: 2000,
    });
    expect(one.pids).toEqual({ current: 3 });
    expect(statsV1(() => undefined)).toEqual({ cpu: {}, memory: {}, pids: {}, io: {}, pressure: {} });
  });
});
