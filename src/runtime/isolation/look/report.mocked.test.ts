import { expect, it, vi } from "vitest";
import { guestNumbers } from "../../../shared/metrics/index.ts";
import { reportOf } from "./report.ts";

vi.mock("../../host/index.ts", () => ({}));

const FILES = {
  uptime: "12.34 11.00\n",
  loadavg: "0.10 0.20 0.30 1/80 99\n",
  stat: "cpu  100 0 200 300 0 1 2 3 0 0\ncpu0 1 2\nintr 5 6\nctxt 77\nprocesses 88\nprocs_running 2\nprocs_blocked 0\n",
  meminfo:
    "MemTotal:         100 kB\nMemFree:           50 kB\nMemAvailable:      60 kB\nSwapCached:         9 kB\nCached:            10 kB\nSlab: 5 kB\n",
  vmstat: "pgfault 9\npgmajfault 3\noom_kill 1\n",
  interfaces: [
    "Inter-|   Receive                                                |  Transmit",
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
    "    lo:      10       1    0    0    0     0          0         0       10       1    0    0    0     0       0          0",
    "  eth0:     100       2    0    3    0     0          0         0      200       4    0    5    0     0       0          0",
    "eth1:1000 20    0    0    0     0          0         0      2000       40    0    0    0     0       0          0",
    "",
  ].join("\n"),
};

it("says what the files of /proc count, and nothing that they do not have", () => {
  const report = reportOf(FILES);
  expect(report).toMatchObject({
    ...{ uptime_seconds: 12.34, "load.5": 0.2, "cpu_seconds_total.user": 1, "cpu_seconds_total.idle": 3, "cpu_seconds_total.steal": 0.03 },
    ...{ context_switches_total: 77, forks_total: 88, processes_running: 2, memory_total_bytes: 102_400, memory_cached_bytes: 10_240 },
    ...{ oom_kills_total: 1, "network_bytes_total.receive": 1100, "network_bytes_total.transmit": 2200, "network_drops_total.transmit": 5 },
  });
  expect(report).not.toHaveProperty("memory_anonymous_bytes");
  // A host takes all of it.
  expect(guestNumbers(JSON.stringify(report))).toEqual(report);
  expect(reportOf({ ...FILES, interfaces: "" })).not.toHaveProperty("network_bytes_total.receive");
});
