import { expect, test } from "vitest";
import { cgroupVersion, directoryOf, hierarchies } from "./cgroups.ts";

const V1 = [
  "30 20 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755",
  "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct",
  "32 30 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/x,name=systemd",
  "33 30 0:29 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup2 rw",
].join("\n");

test("mountinfo of v1, with controllers that share a hierarchy, and of v2", () => {
  const found = hierarchies(V1);
  expect(found.map(({ mountpoint, version }) => [mountpoint, version])).toEqual([
    ["/sys/fs/cgroup/cpu,cpuacct", 1],
    ["/sys/fs/cgroup/systemd", 1],
    ["/sys/fs/cgroup/uni fied", 2],
  ]);
  expect(cgroupVersion(found)).toBe(1);
  const cgroup = { version: 1, paths: ["/sys/fs/cgroup/cpu,cpuacct/a/b", "/sys/fs/cgroup/systemd/a/b"] } as const;
  expect(directoryOf(cgroup, "cpuacct", found)).toBe("/sys/fs/cgroup/cpu,cpuacct/a/b");
  expect(directoryOf(cgroup, "name=systemd", found)).toBe("/sys/fs/cgroup/systemd/a/b");
  expect(directoryOf(cgroup, "memory", found)).toBeUndefined();

  const unified = hierarchies("30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  expect(cgroupVersion(unified)).toBe(2);
  expect(directoryOf({ version: 2, paths: ["/sys/fs/cgroup/a"] }, "memory", unified)).toBe("/sys/fs/cgroup/a");
});
