import { expect, test } from "vitest";
import { resolveCgroup } from "./path.ts";

test.each([
  ["", "/runt/c1"],
  ["/default/c1", "/default/c1"],
  ["/a//b/./c/", "/a/b/c"],
  ["kubepods/pod1/c1", "/kubepods/pod1/c1"],
  ["../../etc", "/etc"],
  ["/a/../../../b", "/b"],
  ["system.slice:runt:c1", "/system.slice:runt:c1"],
])("%j becomes %s", (given, path) => {
  expect(resolveCgroup(given, "c1")).toBe(path);
});

test.each(["/", ".", "..", "/a/..", "//"])("%j is refused: it is the root", (given) => {
  expect(() => resolveCgroup(given, "c1")).toThrow(`cgroupsPath "${given}" names the root cgroup`);
});
