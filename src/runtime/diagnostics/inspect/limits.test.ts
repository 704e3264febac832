import { describe, expect, it } from "vitest";
import { holds, limitSettings } from "./limits.ts";

describe("holds", () => {
  it.each([
    ["pids.max", "32", "32", true],
    ["pids.max", "32", "max", false],
    ["memory.max", "1000001", "999424", true],
    ["memory.max", "1000001", "1003520", false],
    ["memory.max", "max", "max", true],
    ["memory.limit_in_bytes", "-1", "9223372036854771712", true],
    ["memory.limit_in_bytes", "-1", "67108864", false],
    ["hugetlb.2MB.max", "3145728", "2097152", true],
    ["hugetlb.2MB.max", "3145728", "3145728", true],
    ["hugetlb.2MB.max", "3145728", "1048576", false],
    ["cpu.max", "50000 100000", "50000 100000", true],
    ["cpu.max", "50000", "50000 100000", true],
    ["cpu.max", "50000 100000", "max 100000", false],
    ["cpuset.cpus", "0,1,2,4", "0-2,4", true],
    ["cpuset.cpus", "0-3", "0-2", false],
    ["io.max", "8:0 rbps=1048576", "8:0 rbps=1048576 wbps=max riops=max wiops=max", true],
    ["io.max", "8:0 rbps=1048576", "8:0 rbps=max wbps=1048576 riops=max wiops=max", false],
    ["io.max", "8:16 rbps=5", "8:0 rbps=5 wbps=max", false],
    ["io.bfq.weight", "500", "default 500\n8:0 200", true],
    ["io.bfq.weight", "500", "default 100\n8:0 500", false],
    ["blkio.throttle.read_bps_device", "8:0 1024", "8:0 1024\n8:16 2048", true],
    ["memory.oom_control", "1", "oom_kill_disable 1\nunder_oom 0\noom_kill 0", true],
    ["memory.oom_control", "1", "oom_kill_disable 0\nunder_oom 0\noom_kill 0", false],
  ])("%s %s in %j: %s", (file, asked, kernel, expected) => {
    expect(holds(file, asked, kernel)).toBe(expected);
  });
});

describe("limitSettings", () => {
  const files: Readonly<Record<string, string>> = { "/c/pids.max": "10", "/c/devices.list": "c 1:3 rwm\nc 5:* rw" };
  const read = (path: string) => files[path];

  it("looks at the last write of a file, at each line of a list, and marks what differs", () => {
    const writes = [
      { path: "/c/pids.max", value: "5", from: "/a" },
      { path: "/c/pids.max", value: "10", from: "/b" },
      { path: "/c/devices.deny", value: "a", from: "/d" },
      { path: "/c/devices.allow", value: "c 1:3 rwm", from: "/d" },
      { path: "/c/devices.allow", value: "c 1:5 rwm", from: "/d" },
      { path: "/c/absent", value: "1", from: "/e" },
    ];
    expect(limitSettings(writes, read)).toEqual([
      { group: "cgroup", name: "pids.max", from: "/b", asked: "10", kernel: "10", drift: false },
      { group: "cgroup", name: "devices a *:* rwm", from: "/d", asked: "deny", kernel: "deny", drift: false },
      { group: "cgroup", name: "devices c 1:3 rwm", from: "/d", asked: "allow", kernel: "allow", drift: false },
      { group: "cgroup", name: "devices c 1:5 rwm", from: "/d", asked: "allow", kernel: "deny", drift: true },
      { group: "cgroup", name: "absent", from: "/e", asked: "1", drift: false },
    ]);
  });
});
