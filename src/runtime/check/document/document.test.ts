import { describe, expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";

const MINIMAL: Spec = { ociVersion: "1.2.0", root: { path: "rootfs" } };
const problems = (change: Partial<Spec>) =>
  findProblems({ ...MINIMAL, ...change }).map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);

describe("what is for another platform", () => {
  it.each("windows solaris freebsd zos vm".split(" "))("the section %s is a warning", (name) => {
    expect(problems({ [name]: {} })).toEqual([`warning platform-ignored /${name}`]);
    expect(problems({ [name]: null })).toEqual([]);
  });

  it("fields of process too", () => {
    expect(problems({ process: { cwd: "/", args: ["a"], commandLine: "a", user: { username: "u" } } })).toEqual([
      "warning platform-ignored /process/commandLine",
      "warning platform-ignored /process/user/username",
    ]);
    expect(problems({ process: { cwd: "/", args: ["a"], commandLine: "", user: { username: "" } } })).toEqual([]);
  });
});

describe("root.path of Windows", () => {
  it.each(["C:\\rootfs", "d:/rootfs", "\\\\?\\Volume{e4cd4be1-dd3a-11e8-8f4f-806e6f6e6963}\\", "\\\\.\\C:\\x"])("%s is refused", (path) => {
    expect(problems({ root: { path } })).toEqual(["error root-path-windows /root/path"]);
  });
  it.each(["C:", "rootfs", "/c:/rootfs", "a\\b"])("%s is a name like any other", (path) => {
    expect(problems({ root: { path } })).toEqual([]);
  });
});
