import { expect, test } from "vitest";
import { resolveCgroup } from "./path.ts";

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
