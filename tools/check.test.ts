/** tools/check.sh in a repository of its own, with a stand-in for tools/test.sh: what is tried after which change. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

/** Nothing of the configuration and the hooks of whoever runs the tests. */
const ENVIRONMENT = { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
const AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b"];

let tree = "";
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), "runt-check-"));
  for (const directory of ["tools", "native-bindings", "src"]) mkdirSync(join(tree, directory));
  cpSync(join(import.meta.dirname, "check.sh"), join(tree, "tools/check.sh"));
  writeFileSync(join(tree, "tools/test.sh"), '#!/bin/sh\necho "since=$RUNT_TEST_SINCE $RUNT_TEST_VARIANTS lanes: $*"\n', { mode: 0o755 });
});
afterEach(() => rmSync(tree, { recursive: true, force: true }));

const git = (...words: string[]) => execFileSync("git", words, { cwd: tree, env: ENVIRONMENT, encoding: "utf8" }).trim();
const write = (name: string) => writeFileSync(join(tree, name), String(Math.random()));
function commit(name: string): string {
  write(name);
  git("add", "--all");
  git(...AUTHOR, "commit", "--quiet", "--message", name);
  return git("rev-parse", "HEAD");
}
const check = () => execFileSync(join(tree, "tools/check.sh"), { env: ENVIRONMENT, encoding: "utf8" });

const ALL = "unit lint-quick native@private native-host";

test("without anything new it is the last commit that is tried, and native tests only if it may differ for them", () => {
  git("init", "--quiet");
  commit("src/a.ts");
  const before = commit("src/b.ts");
  commit("src/c.ts");
  expect(check()).toMatch(new RegExp(`since=${before} quick lanes: -j 2 unit lint-quick\n$`));
  write("native-bindings/new.c");
  expect(check()).toMatch(new RegExp(`since=${before} quick lanes: -j 2 ${ALL}\n$`));
});

test("what is not upstream yet is tried as a whole", () => {
  git("init", "--quiet", "--initial-branch", "main");
  const before = commit("src/a.ts");
  git("branch", "upstream");
  git("branch", "--quiet", "--set-upstream-to", "upstream");
  commit("native-bindings/b.c");
  commit("src/c.ts");
  expect(check()).toMatch(new RegExp(`since=${before} quick lanes: -j 2 ${ALL}\n$`));
});

test("the first commit, and a tree without git, are tried without a difference", () => {
  expect(check()).toBe(`since= quick lanes: -j 2 ${ALL}\n`);
  git("init", "--quiet");
  commit("src/a.ts");
  expect(check()).toMatch(/since=[0-9a-f]{40} quick lanes: -j 2 unit lint-quick\n$/);
});
