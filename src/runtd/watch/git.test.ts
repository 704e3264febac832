import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workTreeOf } from "./git.ts";

const headOf = (path: string) => workTreeOf(path)?.head();

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-git-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const git = (...words: readonly string[]) =>
  execFileSync("git", ["-C", directory, "-c", "user.name=a", "-c", "user.email=a@runt.invalid", ...words], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], HOME: directory, GIT_CONFIG_NOSYSTEM: "1" },
  }).trim();

describe.skipIf(!existsSync("/usr/bin/git"))("with git", () => {
  beforeEach(() => {
    git("init", "-q", "-b", "main");
    git("commit", "-q", "--allow-empty", "-m", "one");
  });

  test("the commit of a branch, of a packed reference, and of a detached head, also from a directory below", () => {
    const commit = git("rev-parse", "HEAD");
    const wanted = { commit, problem: "" };
    expect(headOf(directory)).toEqual(wanted);
    mkdirSync(join(directory, "apps/web"), { recursive: true });
    expect(headOf(join(directory, "apps/web"))).toEqual(wanted);
    git("pack-refs", "--all");
    expect(headOf(directory)).toEqual(wanted);
    git("checkout", "-q", "--detach");
    expect(headOf(directory)).toEqual(wanted);
    git("commit", "-q", "--allow-empty", "-m", "two");
    expect(headOf(directory)?.commit).toBe(git("rev-parse", "HEAD"));
  });

  test("a further work tree has its own head", () => {
    git("worktree", "add", "-q", "-b", "other", "further");
    git("commit", "-q", "--allow-empty", "-m", "two");
    expect(headOf(join(directory, "further"))?.commit).toBe(git("rev-parse", "other"));
    expect(headOf(directory)?.commit).toBe(git("rev-parse", "main"));
  });

  test("what cannot be read is told, and a lock is seen", () => {
    writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/../../../etc/passwd\n");
    expect(headOf(directory)).toMatchObject({
      commit: undefined,
      problem: expect.stringContaining("names no reference and no commit"),
    });
    writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/none\n");
    expect(workTreeOf(directory)?.isLocked).toBe(false);
    writeFileSync(join(directory, ".git/index.lock"), "");
    expect(workTreeOf(directory)?.isLocked).toBe(true);
    expect(headOf(directory)?.problem).toContain("there is no commit of refs/heads/none yet");
    writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/loop\n");
    writeFileSync(join(directory, ".git/refs/heads/loop"), "ref: refs/heads/loop\n");
    expect(headOf(directory)?.problem).toContain("leads to more than 5 references");
    mkdirSync(join(directory, ".git/reftable"));
    expect(headOf(directory)?.problem).toContain("in the format reftable, which runtd does not read");
  });
});

test("a directory in no work tree has none", () => {
  expect(workTreeOf(directory)).toBeUndefined();
});
