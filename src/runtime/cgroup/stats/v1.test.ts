import { expect, test } from "vitest";
import { statsV1 } from "./v1.ts";

const FILES: Readonly<Record<string, string>> = {
  "cpuacct.usage": "5000000000\n",
  "cpuacct.usage_percpu": "3000000000 2000000000 \n",
  "cpuacct.usage_all": "cpu user system\n0 1 2\n1 3 4\n",
  "cpuacct.stat": "user 250\nsystem 100\n",
  "cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 123456\n",
  "cpuset.cpus": "0-1\n",
  "cpuset.mems": "0\n",
  "cpuset.sched_load_balance": "1\n",
  "cpuset.sched_relax_domain_level": "-1\n",
  "memory.stat": "cache 4096\nrss 8192\n",
  "memory.usage_in_bytes": "12288\n",
  "memory.max_usage_in_bytes": "20480\n",
  "memory.failcnt": "3\n",
  "memory.limit_in_bytes": "33554432\n",
  "memory.memsw.usage_in_bytes": "16384\n",
  "memory.memsw.max_usage_in_bytes": "24576\n",
  "memory.memsw.failcnt": "1\n",
  "memory.memsw.limit_in_bytes": "67108864\n",
  "memory.kmem.usage_in_bytes": "100\n",
  "pids.current": "7\n",
  "pids.max": "max\n",
};

const read = (files: Readonly<Record<string, string>>) => (name: string) => files[name];

test("every file finds its place", () => {
  const stats = statsV1(read(FILES), []);
  expect(stats.cpu).toEqual({
    usage: {
      total: 5_000_000_000n,
      percpu: [3_000_000_000n, 2_000_000_000n],
      percpuKernel: [2n, 4n],
      percpuUser: [1n, 3n],
      kernel: 1_000_000_000n,
      user: 2_500_000_000n,
    },
    throttling: { periods: 10n, throttledPeriods: 4n, throttledTime: 123456n },
  });
  expect(stats.cpuset).toMatchObject({ cpus: [0, 1], mems: [0], schedLoadBalance: 1n, schedRelaxDomainLevel: -1n, cpuExclusive: 0n });
  expect(stats.memory).toEqual({
    cache: 4096n,
    usage: { limit: 33554432n, usage: 12288n, max: 20480n, failcnt: 3n },
    swap: { limit: 67108864n, usage: 16384n, max: 24576n, failcnt: 1n },
    kernel: { limit: 0n, usage: 100n, max: 0n, failcnt: 0n },
    kernelTCP: { limit: 0n, usage: 0n, max: 0n, failcnt: 0n },
    raw: { cache: 4096n, rss: 8192n },
  });
  expect(stats.pids).toEqual({ current: 7n, limit: 0n });
});

test("a limit of processes", () => {
  expect(statsV1(read({ "pids.current": "1\n", "pids.max": "20\n" }), []).pids).toEqual({ current: 1n, limit: 20n });
});

const entry = (value: bigint) => [{ major: 8n, minor: 0n, op: "Read", value }];

test.each([
  [
    "BFQ with debugging",
    { "blkio.bfq.sectors_recursive": "8:0 Read 1\n", "blkio.bfq.io_service_time_recursive": "8:0 Read 2\n" },
    "sectors",
    1n,
  ],
  ["BFQ", { "blkio.bfq.io_serviced_recursive": "8:0 Read 3\n", "blkio.throttle.io_serviced_recursive": "8:0 Read 9\n" }, "ioServiced", 3n],
  ["CFQ", { "blkio.sectors_recursive": "8:0 Read 4\n" }, "sectors", 4n],
  [
    "the throttling layer",
    { "blkio.bfq.io_serviced_recursive": "", "blkio.throttle.io_serviced_recursive": "8:0 Read 5\n" },
    "ioServiced",
    5n,
  ],
  ["the throttling layer, flat", { "blkio.throttle.io_serviced": "8:0 Read 6\n" }, "ioServiced", 6n],
] as const)("block I/O of %s", (_, files, statistic, value) => {
  expect(statsV1(read(files), []).blkio[statistic]).toEqual(entry(value));
});

test("both counts of one source, not of two", () => {
  const { blkio } = statsV1(
    read({
      "blkio.bfq.io_serviced_recursive": "8:0 Read 1\n",
      "blkio.bfq.io_service_bytes_recursive": "8:0 Read 2\n",
      "blkio.throttle.io_serviced_recursive": "8:0 Read 8\n",
      "blkio.throttle.io_service_bytes_recursive": "8:0 Read 9\n",
    }),
    [],
  );
  expect([blkio.ioServiced, blkio.ioServiceBytes]).toEqual([entry(1n), entry(2n)]);
});

test("huge pages: reservations where they are counted", () => {
  const files = {
    "hugetlb.2MB.usage_in_bytes": "1\n",
    "hugetlb.2MB.rsvd.usage_in_bytes": "2\n",
    "hugetlb.2MB.rsvd.max_usage_in_bytes": "3\n",
    "hugetlb.2MB.rsvd.failcnt": "4\n",
    "hugetlb.1GB.usage_in_bytes": "5\n",
  };
  expect(statsV1(read(files), ["2MB", "1GB", "64KB"]).hugetlb).toEqual({
    "2MB": { usage: 2n, max: 3n, failcnt: 4n },
    "1GB": { usage: 5n, max: 0n, failcnt: 0n },
  });
});
