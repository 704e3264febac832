/** The monitor is stopped at each of its points, and wakes when its container has been deleted and the id is another's. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { holdsLock } from "../support/process-status.ts";
import { REPOSITORY } from "../support/programs.ts";

const TESTING = join(REPOSITORY, "build/testing/runt");
const MOST_POINTS = 40;
const EXIT = 7;
/** Until delete comes to the lock. */
const BEHIND_MS = 300;

describe.skipIf(!isRoot || !isRunt)("a stopped monitor (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  const stateOf = (pid: number) =>
    existsSync(`/proc/${pid}`) ? /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] : undefined;

  /** Of the point where it stopped, or of all that it passed. */
  async function runStoppedAt(point: number, path: string, name: string) {
    const log = join(directory, `${name}.points`);
    const env = { ...process.env, RUNT_FAULT: `monitor:${point}:stop`, RUNT_FAULT_LOG: log };
    const child = spawn(TESTING, ["--root", root, "run", "-b", path, name], { env, stdio: "ignore" });
    children.push(child);
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    await expect.poll(() => child.exitCode !== null || stateOf(child.pid!) === "T", { interval: 10 }).toBe(true);
    const points = readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("monitor "));
    return { pid: child.pid!, isStopped: child.exitCode === null, ended, point: points.at(-1) };
  }

  test.each([
    ["by itself", false],
    ["through delete, for poststop hooks", true],
  ])("that cleans up %s", async (_, hooks) => {
    const withHooks = (config: object) => hooks && Object.assign(config, { hooks: { poststop: [{ path: "/bin/true" }] } });
    const cgroup = `${CGROUP_PARENT}/stopped-monitor`;
    const ends = bundle((config) => {
      shell(config, `sleep 0.1; exit ${EXIT}`);
      config.linux.cgroupsPath = cgroup;
      withHooks(config);
    });
    const stays = bundle((config) => {
      shell(config, "exec sleep 1000");
      config.linux.cgroupsPath = cgroup;
      withHooks(config);
    });
    const seen: string[] = [];
    for (let number = 1; number <= MOST_POINTS; number++) {
      const name = id();
      const old = await runStoppedAt(number, ends, name);
      if (!old.isStopped) {
        expect(await old.ended).toBe(EXIT);
        break;
      }
      seen.push(old.point!);
      // Where it has the lock, delete waits for it.
      const held = holdsLock(old.pid);
      const deleting = runtime(["delete", "--force", name]);
      if (held) {
        await sleep(BEHIND_MS);
        process.kill(old.pid, "SIGCONT");
      }
      expect([old.point, (await deleting).status]).toEqual([old.point, 0]);
      if (held) expect([old.point, await old.ended]).toEqual([old.point, EXIT]);
      await ok(["run", "-d", "-b", stays, name]);
      const { pid } = JSON.parse(await ok(["state", name]));
      const files = readdirSync(join(root, name)).sort();
      if (!held) process.kill(old.pid, "SIGCONT");
      const status = await old.ended;
      // Stopped before it could look, it sees the end that delete has made.
      expect([EXIT, 137]).toContain(status);
      expect([old.point, JSON.parse(await ok(["state", name])).pid, readdirSync(join(root, name)).sort()]).toEqual([old.point, pid, files]);
      expect(await ok(["exec", name, "echo", "here"])).toBe("here\n");
      await ok(["delete", "--force", name]);
    }
    const names = seen.map((line) => line.replace(/^monitor \d+ /, ""));
    for (const name of ["before watch", "after watch", "after lock", hooks ? "after clone" : "before --rmdir", "after cleanup"])
      expect(names).toContain(name);
  });
});
