import { describe, expect, it } from "vitest";
import { isLimit, limitFile } from "./memory-limit.ts";

const V1 = "12:pids:/a\n7:cpu,cpuacct:/a\n5:memory:/b:c\n1:name=systemd:/d\n0::/e\n";
const V1_MOUNTS = [
  "30 24 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755",
  "31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate",
  "32 30 0:28 / /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu,cpuacct",
  "33 30 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:1 - cgroup cgroup rw,memory",
].join("\n");
const V2 = "0::/engine.slice/c.scope\n";
const V2_MOUNT = "29 24 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw";

describe("the file with a cgroup's limit of memory", () => {
  it("of v1 is in the hierarchy of that controller", () => {
    expect(limitFile(V1, V1_MOUNTS)).toBe("/sys/fs/cgroup/memory/b:c/memory.limit_in_bytes");
  });

  it("of v2 is in the only one", () => {
    expect(limitFile(V2, V2_MOUNT)).toBe("/sys/fs/cgroup/engine.slice/c.scope/memory.max");
    // The root of the tree has no such file.
    expect(limitFile("0::/\n", V2_MOUNT)).toBe("/sys/fs/cgroup/memory.max");
  });

  it("is that of v2 where v1 has other controllers only", () => {
    expect(limitFile(V1.replace("5:memory:/b:c\n", ""), V1_MOUNTS)).toBe("/sys/fs/cgroup/unified/e/memory.max");
  });

  it("is found where a part of the hierarchy is mounted, at a path with a space", () => {
    const mounts = V2_MOUNT.replace(" / /sys/fs/cgroup ", " /engine.slice /my\\040cgroups ");
    expect(limitFile(V2, mounts)).toBe("/my cgroups/c.scope/memory.max");
    expect(limitFile("0::/engine.slice\n", mounts)).toBe("/my cgroups/memory.max");
    expect(limitFile("0::/engine.slicer\n", mounts)).toBeUndefined();
  });

  it("is not there without a mount, or without cgroups", () => {
    expect(limitFile(V1, V2_MOUNT)).toBeUndefined();
    expect(limitFile(V2, V1_MOUNTS.split("\n")[0]!)).toBeUndefined();
    expect(limitFile("", V2_MOUNT)).toBeUndefined();
  });
});

it.each([
  ["1073741824\n", true],
  ["0\n", true],
  ["max\n", false],
  ["9223372036854771712\n", false],
  ["", false],
])("%j is a limit: %s", (text, expected) => {
  expect(isLimit(text)).toBe(expected);
});
