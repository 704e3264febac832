import { expect, test } from "vitest";
import { favorsDynamicMods, hierarchyToMeasure, ownPath } from "./cgroup-moves.ts";

const hierarchy = (...controllers: readonly string[]) => ({ mountpoint: `/${controllers[0]}`, controllers });

test("a hierarchy is measured that takes any process and has no manager", () => {
  const [named, cpuset, pids] = [hierarchy("name=systemd"), hierarchy("cpuset"), hierarchy("pids")];
  expect(hierarchyToMeasure({ version: 1, hierarchies: [named, cpuset, pids] })).toBe(pids);
  expect(hierarchyToMeasure({ version: 1, hierarchies: [named] })).toBe(named);
  // The only one of v2 offers cpuset, too.
  expect(hierarchyToMeasure({ version: 2, hierarchies: [cpuset] })).toBe(cpuset);
  expect(hierarchyToMeasure({ version: 1, hierarchies: [] })).toBeUndefined();
});

test("the caller's own cgroup is that of this hierarchy", () => {
  const text = "12:pids:/a\n3:cpu,cpuacct:/b\n1:name=systemd:/c\n0::/d\n";
  expect(ownPath(1, hierarchy("cpuacct"), text)).toBe("/b");
  expect(ownPath(1, hierarchy("name=systemd"), text)).toBe("/c");
  expect(ownPath(2, hierarchy("cpu"), text)).toBe("/d");
  expect(ownPath(2, hierarchy(), "0::/\n")).toBe("");
});

test("favordynmods is an option of the mount in question", () => {
  const text =
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,favordynmods\n31 24 0:27 / /mnt rw - cgroup2 cgroup2 rw,nsdelegate\n";
  expect(favorsDynamicMods("/sys/fs/cgroup", text)).toBe(true);
  expect(favorsDynamicMods("/mnt", text)).toBe(false);
});
