import { expect, test } from "vitest";
import { UNLIMITED } from "./types.ts";
import { statsV2 } from "./v2.ts";

const FILES: Readonly<Record<string, string>> = {
  "cpu.stat": "usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 77\n",
  "cpu.pressure": "some avg10=0.50 avg60=0.00 avg300=0.00 total=9\n",
  "memory.stat": "anon 8192\nfile 4096\n",
  "memory.current": "12288\n",
  "memory.max": "33554432\n",
  "memory.peak": "20480\n",
  "memory.swap.current": "100\n",
  "memory.swap.max": "1000\n",
  "memory.swap.peak": "500\n",
  "pids.current": "7\n",
  "pids.max": "20\n",
  "io.stat": "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n",
};

const read = (files: Readonly<Record<string, string>>) => (name: string) => files[name];

test("every file finds its place", () => {
  const stats = statsV2(read(FILES), []);
  expect(stats.cpu).toEqual({
    usage: { total: 5_000_000n, percpu: [], percpuKernel: [], percpuUser: [], kernel: 2_000_000n, user: 3_000_000n },
    throttling: { periods: 10n, throttledPeriods: 4n, throttledTime: 77_000n },
    psi: { some: { avg10: 0.5, avg60: 0, avg300: 0, total: 9n }, full: { avg10: 0, avg60: 0, avg300: 0, total: 0n } },
  });
  expect(stats.memory).toEqual({
    cache: 4096n,
    usage: { limit: 33554432n, usage: 12288n, max: 20480n, failcnt: 0n },
    swap: { limit: 33555432n, usage: 12388n, max: 0n, failcnt: 0n },
    kernel: { limit: 0n, usage: 0n, max: 0n, failcnt: 0n },
    kernelTCP: { limit: 0n, usage: 0n, max: 0n, failcnt: 0n },
    raw: { anon: 8192n, file: 4096n },
  });
  expect(stats.pids).toEqual({ current: 7n, limit: 20n });
  expect(stats.blkio.ioServiceBytes.map(({ op, value }) => [op, value])).toEqual([
    ["Read", 1n],
    ["Write", 2n],
  ]);
  expect(stats.blkio.ioServiced.map(({ op, value }) => [op, value])).toEqual([
    ["Read", 3n],
    ["Write", 4n],
  ]);
  expect([stats.memory.psi, stats.blkio.psi]).toEqual([undefined, undefined]);
});

test.each([
  [{ "memory.max": "max\n", "memory.swap.max": "0\n" }, UNLIMITED],
  [{ "memory.max": "100\n", "memory.swap.max": "max\n" }, UNLIMITED],
  [{ "memory.max": "100\n", "memory.swap.max": "0\n" }, 100n],
  [{ "memory.max": "100\n" }, 100n],
])("the limit of memory and swap of %o", (files, limit) => {
  expect(statsV2(read(files), []).memory.swap.limit).toBe(limit);
});

test("without controllers the CPU time is there, and processes are counted", () => {
  const stats = statsV2(read({ "cpu.stat": "usage_usec 1\n", "cgroup.procs": "10\n11\n" }), []);
  expect([stats.cpu.usage.total, stats.pids]).toEqual([1000n, { current: 2n, limit: 0n }]);
});

test("huge pages", () => {
  const files = { "hugetlb.2MB.rsvd.current": "4194304\n", "hugetlb.2MB.events": "max 3\n", "hugetlb.1GB.current": "5\n" };
  expect(statsV2(read(files), ["2MB", "1GB", "64KB"]).hugetlb).toEqual({
    "2MB": { usage: 4194304n, max: 0n, failcnt: 3n },
    "1GB": { usage: 5n, max: 0n, failcnt: 0n },
  });
});
