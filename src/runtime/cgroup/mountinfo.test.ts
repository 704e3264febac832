import { expect, test } from "vitest";
import { hierarchiesIn } from "./mountinfo.ts";

const V1 = [
  "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard",
  "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755",
  "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct",
  "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd",
  "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate",
].join("\n");

test("a hybrid host counts as v1, with co-mounted and named hierarchies", () => {
  expect(hierarchiesIn(`${V1}\n`)).toEqual({
    version: 1,
    hierarchies: [
      { mountpoint: "/sys/fs/cgroup/cpu,cpuacct", controllers: ["cpu", "cpuacct"] },
      { mountpoint: "/sys/fs/cgroup/systemd", controllers: ["name=systemd"] },
    ],
    unified: "/sys/fs/cgroup/unified",
  });
});

test.each([
  ["the mount is read-only", "/sys/fs/cgroup/unified ro,relatime - cgroup2 cgroup2 rw"],
  ["the file system is read-only", "/sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 ro"],
  ["it is mounted elsewhere only", "/srv/c/sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw"],
])("nobody joins the v2 hierarchy of a hybrid host where %s", (_, mount) => {
  const text = `${V1.slice(0, V1.lastIndexOf("\n"))}\n41 31 0:38 / ${mount}\n`;
  expect(hierarchiesIn(text)).toMatchObject({ version: 1 });
  expect(hierarchiesIn(text).unified).toBeUndefined();
});

test("the last mount at a place counts", () => {
  expect(hierarchiesIn(`${V1}\n42 41 0:38 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n`).unified).toBeUndefined();
});

test("cgroup2 beside nothing but a named hierarchy counts as v2", () => {
  const text = [
    "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd",
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw",
  ].join("\n");
  expect(hierarchiesIn(text)).toEqual({ version: 2, hierarchies: [{ mountpoint: "/sys/fs/cgroup/unified", controllers: [] }] });
});

test("a hierarchy that is mounted twice counts once, at its usual place", () => {
  const text = [
    "50 1 0:35 / /srv/c/memory rw - cgroup cgroup rw,memory",
    "35 31 0:35 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
  ].join("\n");
  expect(hierarchiesIn(text).hierarchies).toEqual([{ mountpoint: "/sys/fs/cgroup/memory", controllers: ["memory"] }]);
});

test("octal escapes of the mount point are decoded", () => {
  expect(hierarchiesIn("1 2 0:3 / /a\\040b\\134 rw - cgroup cgroup rw,pids").hierarchies[0]?.mountpoint).toBe("/a b\\");
});

test("no cgroup mounted", () => {
  expect(hierarchiesIn("27 1 254:0 / / rw - ext4 /dev/vda rw")).toEqual({ version: 1, hierarchies: [] });
});

test("mounts between the hierarchies, optional fields, and lines that are cut short", () => {
  const text = [
    "30 1 0:5 / /dev rw,nosuid shared:2 master:1 - devtmpfs udev rw,size=4096k",
    "35 31 0:35 / /sys/fs/cgroup/memory rw,nosuid shared:9 master:3 - cgroup cgroup rw,memory",
    "36 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids",
    "50 1 0:40 / /srv/a\\040-\\040cgroup rw - ext4 /dev/vdb rw",
    "37 - cgroup cgroup rw,cpu",
    "38 31 0:38 / /sys/fs/cgroup/cpuset rw - cgroup",
    "39 31 0:39 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer",
  ].join("\n");
  const hierarchies = [
    { mountpoint: "/sys/fs/cgroup/memory", controllers: ["memory"] },
    { mountpoint: "/sys/fs/cgroup/pids", controllers: ["pids"] },
    { mountpoint: "/sys/fs/cgroup/freezer", controllers: ["freezer"] },
  ];
  expect(hierarchiesIn(text)).toEqual({ version: 1, hierarchies });
  expect(hierarchiesIn(`${text}\n`)).toEqual({ version: 1, hierarchies });
});
