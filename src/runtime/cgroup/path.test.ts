import { expect, test } from "vitest";
import { belowParent, type CgroupMode, resolveCgroup } from "./path.ts";

test.each([
  ["", "/runt/c1"],
  ["/default/c1", "/default/c1"],
  ["/a//b/./c/", "/a/b/c"],
  ["kubepods/pod1/c1", "/kubepods/pod1/c1"],
  ["../../etc", "/etc"],
  ["/a/../../../b", "/b"],
  ["/a:b:c", "/a:b:c"],
  ["pods/a:b:c", "/pods/a:b:c"],
])("%j becomes %s", (given, path) => {
  expect(resolveCgroup(given, "c1")).toBe(path);
});

test.each(["system.slice:runt:c1", ":runt:c1", "user.slice::c1"])("%j is refused: it is meant for systemd", (given) => {
  expect(() => resolveCgroup(given, "c1")).toThrow("has systemd's form slice:prefix:name");
});

test.each(["/", ".", "..", "/a/..", "//"])("%j is refused: it is the root", (given) => {
  expect(() => resolveCgroup(given, "c1")).toThrow(`cgroupsPath "${given}" names the root cgroup`);
});

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
