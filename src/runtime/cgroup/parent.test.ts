import { expect, test } from "vitest";
import { belowParent, type CgroupMode } from "./parent.ts";

test.each([
  ["cgroupfs", "", "/tasks/t1", "/tasks/t1/c1"],
  ["cgroupfs", "web", "/tasks/t1", "/tasks/t1/web"],
  ["cgroupfs", "pod/web", "/tasks//t1/", "/tasks/t1/pod/web"],
  ["cgroupfs", "/default/web", "/tasks/t1", "/tasks/t1/web"],
  ["cgroupfs", "/", "/tasks/t1", "/tasks/t1/c1"],
  ["systemd", "", "tasks-t1.slice", "tasks-t1.slice:runt:c1"],
  ["systemd", "system.slice:libpod:web", "tasks-t1.slice", "tasks-t1.slice:libpod:web"],
  ["systemd", "::web", "tasks-t1.slice", "tasks-t1.slice::web"],
] as const)("%s: %j below", (mode, path, parent, expected) => {
  expect(belowParent(path, "c1", parent, mode)).toBe(expected);
});

test.each<readonly [CgroupMode, string]>([
  ["cgroupfs", ""],
  ["cgroupfs", "/"],
  ["cgroupfs", "tasks"],
  ["cgroupfs", "/tasks/../../x"],
  ["cgroupfs", "tasks.slice"],
  ["systemd", "/tasks"],
  ["systemd", "tasks"],
  ["systemd", ".slice/x.slice"],
  ["systemd", "a:b.slice"],
])("%s: %j is no parent", (mode, parent) => {
  expect(() => belowParent("", "c1", parent, mode)).toThrow(`--cgroup-parent ${parent}: not`);
});
