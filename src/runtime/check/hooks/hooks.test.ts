import { expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";

const problems = (hooks: Spec["hooks"]) =>
  findProblems({ ociVersion: "1.2.0", root: { path: "rootfs" }, hooks }).map(({ code, pointer }) => `${code} ${pointer}`);

it.each<[string, Spec["hooks"], string[]]>([
  ["hooks with everything", { prestart: [{ path: "/a", args: ["a"], env: ["X=1"], timeout: 1 }], poststop: [] }, []],
  ["a relative path", { createContainer: [{ path: "/a" }, { path: "a" }] }, ["hook-path-relative /hooks/createContainer/1/path"]],
  ["an empty path", { prestart: [{ path: "" }] }, ["hook-path-relative /hooks/prestart/0/path"]],
  ["a time-out of 0", { poststart: [{ path: "/a", timeout: 0 }] }, ["hook-timeout /hooks/poststart/0/timeout"]],
  ["a negative time-out", { poststop: [{ path: "/a", timeout: -5 }] }, ["hook-timeout /hooks/poststop/0/timeout"]],
  ["a NUL byte", { startContainer: [{ path: "/a", args: ["a\0b"] }] }, ["nul-byte /hooks/startContainer/0"]],
])("%s", (_, hooks, expected) => expect(problems(hooks)).toEqual(expected));
