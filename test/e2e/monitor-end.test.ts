/** The end of a monitor that cannot remove its container, or is not let to. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { catches } from "../support/process-status.ts";

describe.skipIf(!isRoot || !isRunt)("the end of a monitor (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  const undo: (() => void)[] = [];
  afterEach(() => {
    for (const step of undo.splice(0).reverse()) step();
  });

  function foreground(args: readonly string[], at = root) {
    const child: ChildProcess = spawn(RUNTIME, ["--root", at, "run", ...args], { stdio: ["ignore", "ignore", "pipe"] });
    undo.push(() => child.kill("SIGKILL"));
    let stderr = "";
    child.stderr!.on("data", (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    return {
      child,
      ended: new Promise<{ status: number | null; stderr: string }>((resolve) =>
        child.on("close", (status) => resolve({ status, stderr })),
      ),
    };
  }

  function tmpfs(options: string): string {
    const place = join(directory, `tmpfs-${Math.random().toString(36).slice(2)}`);
    mkdirSync(place);
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", place]);
    undo.push(() => execFileSync("umount", [place]));
    return place;
  }

  const stays = (change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, "trap 'exit 5' TERM; while :; do sleep 0.05; done");
      change(config);
    });
  /** The program's trap is set. */
  const ready = (name: string, place = root) =>
    expect
      .poll(
        async () =>
          catches(JSON.parse((await runtime(["--root", place, "state", name])).stdout || '{"pid":0}').pid, constants.signals.SIGTERM),
        { interval: 20 },
      )
      .toBe(true);
  const poststop = (command: string) => (config: Config) =>
    Object.assign(config, { hooks: { poststop: [{ path: "/bin/sh", args: ["sh", "-c", command] }] } });

  test("the state directory has become read-only: the container's status, and what is left", async () => {
    const place = tmpfs("size=4m");
    const name = id();
    const { child, ended } = foreground(["-b", stays(), name], place);
    await ready(name, place);
    execFileSync("mount", ["-o", "remount,ro", place]);
    child.kill("SIGTERM");
    const { status, stderr } = await ended;
    execFileSync("mount", ["-o", "remount,rw", place]);
    expect(status).toBe(5);
    expect(stderr).toContain(
      `runt: the container has ended, but ${place}/${name} is left, and perhaps its cgroup: it could not be removed`,
    );
    await ok(["--root", place, "delete", "--force", name]);
    expect(existsSync(join(place, name))).toBe(false);
  });

  test("no room for the exit record: the container is removed, and no half record is left", async () => {
    const place = tmpfs("size=64k");
    const [name, record] = [id(), join(place, "record")];
    await ok(["run", "-d", "--exit-record", record, "-b", stays(), name]);
    const before = JSON.parse(readFileSync(record, "utf8"));
    expect(() => writeFileSync(join(place, "full"), Buffer.alloc(128 * 1024))).toThrow("ENOSPC");
    await ok(["kill", name, "KILL"]);
    await expect.poll(() => existsSync(`/proc/${before.monitor.pid}`)).toBe(false);
    expect(existsSync(join(root, name))).toBe(false);
    expect(JSON.parse(readFileSync(record, "utf8"))).toEqual(before);
    expect(readdirSync(place).sort()).toEqual(["full", "record"]);
  });

  test("a poststop hook that does not end: TERM ends the waiting, and nobody holds the lock", async () => {
    const name = id();
    const began = join(directory, `${name}.hook`);
    const { child, ended } = foreground(["-b", stays(poststop(`echo $$ > ${began}; exec sleep 1000`)), name]);
    await ready(name);
    await ok(["kill", name, "KILL"]);
    await expect.poll(() => existsSync(began) && readFileSync(began, "utf8")).toMatch(/^\d+\n$/);
    undo.push(() => process.kill(Number(readFileSync(began, "utf8")), "SIGKILL"));
    await sleep(2_300);
    child.kill("SIGTERM");
    const { status, stderr } = await ended;
    expect(status).toBe(137);
    if (existsSync(join(root, name))) expect(stderr).toContain("is left");
    expect(execFileSync("sh", ["-c", `test ! -e ${root}/${name} || flock -n ${root}/${name} true; echo free`], { encoding: "utf8" })).toBe(
      "free\n",
    );
  });

  test("a signal that comes right behind the end does not stop a poststop hook", async () => {
    const name = id();
    const [began, done] = [join(directory, `${name}.hook`), join(directory, `${name}.done`)];
    const { child, ended } = foreground(["-b", stays(poststop(`: > ${began}; sleep 0.5; : > ${done}`)), name]);
    await ready(name);
    child.kill("SIGTERM");
    await expect.poll(() => existsSync(began), { interval: 5 }).toBe(true);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ status: 5, stderr: "" });
    expect(existsSync(done)).toBe(true);
    rmSync(done);
  });
});
