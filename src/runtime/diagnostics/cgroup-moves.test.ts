import { expect, test } from "vitest";
import { favorsDynamicMods, ownPath } from "./cgroup-moves.ts";

test("the caller's own cgroup is that of the first hierarchy", () => {
  const text = "12:pids:/a\n3:cpu,cpuacct:/b\n1:name=systemd:/c\n0::/d\n";
  const v1 = (controllers: readonly string[]) => ({ version: 1, hierarchies: [{ mountpoint: "/m", controllers }] }) as const;
  expect(ownPath(v1(["cpuacct"]), text)).toBe("/b");
  expect(ownPath(v1(["name=systemd"]), text)).toBe("/c");
  expect(ownPath({ version: 2, hierarchies: [{ mountpoint: "/m", controllers: ["cpu"] }] }, text)).toBe("/d");
  expect(ownPath({ version: 2, hierarchies: [{ mountpoint: "/m", controllers: [] }] }, "0::/\n")).toBe("");
});

test("favordynmods is an option of the mount in question", () => {
  const text =
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,favordynmods\n31 24 0:27 / /mnt rw - cgroup2 cgroup2 rw,nsdelegate\n";
  expect(favorsDynamicMods("/sys/fs/cgroup", text)).toBe(true);
  expect(favorsDynamicMods("/mnt", text)).toBe(false);
});
