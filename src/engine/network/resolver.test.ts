/** The search for the process of the resolver. What it answers is in test/engine/resolver.test.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { canBeDeaf, DEAF_S, mountDeaf } from "../../../test/support/deaf-mount.ts";
import { Resolver } from "./resolver.ts";

describe.skipIf(!canBeDeaf)("the search for the resolver (needs root and FUSE)", () => {
  const scene = () => {
    const directory = mkdtempSync(join(tmpdir(), "runt-resolver-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const program = join(directory, "a-resolver");
    copyFileSync("/usr/bin/sleep", program);
    const own = join(directory, "own");
    const children: ChildProcess[] = [];
    const start = async (cwd: string) => {
      const child = spawn(program, ["1000"], { cwd, stdio: "ignore" });
      children.push(child);
      onTestFinished(() => void child.kill("SIGKILL"));
      await once(child, "spawn");
      return child;
    };
    const cgroup = { make: () => [], processes: () => children.map(({ pid }) => pid!), remove: async () => {} };
    mkdirSync(own);
    return { directory, own, start, children, resolver: new Resolver({ directory: own, program, timeoutMs: 1000, cgroup }) };
  };

  test("a process of its name with a working directory that does not answer keeps nobody waiting, and goes on", async () => {
    const { directory, start, children, resolver } = scene();
    const deaf = join(directory, "deaf");
    mkdirSync(deaf);
    await mountDeaf(deaf);
    const other = await start(deaf);
    children.length = 0;
    const before = performance.now();
    await resolver.tidy();
    expect(performance.now() - before).toBeLessThan((DEAF_S * 1000) / 2);
    expect([resolver.problem, other.exitCode, other.signalCode]).toEqual(["", null, null]);
  });

  test("one that runs in its cgroup and directory is ended when there is nothing to answer, and one in another directory is not", async () => {
    const { directory, own, start, resolver } = scene();
    const [other, found] = [await start(directory), await start(own)];
    const ended = once(found, "exit");
    await resolver.tidy();
    expect(resolver.problem).toBe("");
    expect([(await ended)[1], other.signalCode]).toEqual(["SIGTERM", null]);
  });
});
