/** A full disk, and a directory that cannot be written, below a daemon: what runs goes on, can be seen and stopped, and nothing begins that is not recorded. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { NodeView, TaskView } from "../../src/engine/index.ts";
import { REPOSITORY } from "../support/programs.ts";
import { type Daemon, http, identityOf, isRoot, LONGEST_MS, type ScriptTask, scriptTask, sharedIn, until, useEngine } from "./support.ts";

const RUNT = join(REPOSITORY, "bin/runt");
const RESERVE = 4 << 20;

describe.skipIf(!isRoot)("a disk without room (needs root)", () => {
  const scene = useEngine();
  const node = async (): Promise<NodeView> => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
  const isReadOnly = async () => (await node()).conditions.some(({ type }) => type === "StoreReadOnly");
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = (...list: readonly ScriptTask[]) =>
    http(scene.socket, "POST", "/v1/apply", { text: list.map((one) => scriptTask(scene.rootfs(), one)).join("") });
  const server = (name: string, directory: string): ScriptTask => ({
    name,
    script: `echo + ${name} >> /shared/lines; trap 'echo - ${name} >> /shared/lines; exit 0' TERM; sleep 1000 & wait`,
    shared: directory,
    container: "restart: { enabled: true }",
  });
  /** Mounted in the daemon's mount namespace alone, and gone with it and its containers. */
  const onSmallDisk = `mount -t tmpfs -o size=16m,mode=700 none ${scene.stateDir}`;
  /** What containers leave free when they end is not the store's. */
  const besideExecutors = `${onSmallDisk} && mkdir -m 700 ${scene.stateDir}/executors && mount -t tmpfs -o size=64m,mode=700 none ${scene.stateDir}/executors`;
  /** The state directory as the daemon sees it. */
  const seenBy = (daemon: Daemon, ...names: readonly string[]) => join(`/proc/${daemon.pid}/root${scene.stateDir}`, ...names);
  const fill = (path: string) => {
    for (const size of [1 << 16, 4096]) {
      try {
        for (;;) writeFileSync(path, Buffer.alloc(size, 120), { flag: "a" });
      } catch {}
    }
  };

  test(
    "nothing begins, what runs can be seen and stopped, the reserve goes first, and with room it goes on",
    async () => {
      const { directory, lines } = sharedIn(scene, "full");
      mkdirSync(scene.stateDir, { mode: 0o700 });
      const daemon = await scene.daemon({ before: besideExecutors });
      const inside = (...args: readonly string[]) =>
        execFileSync(
          "nsenter",
          [`--mount=/proc/${daemon.pid}/ns/mnt`, RUNT, "--root", join(scene.stateDir, "executors/@runtime"), ...args],
          { encoding: "utf8" },
        );
      const present = (): { id: string; pid: number; status: string }[] => JSON.parse(inside("list", "-f", "json")) ?? [];
      try {
        expect((await apply(server("a", directory), server("b", directory))).status).toBe(200);
        await until(async () => (await get("a")).known === "RUNNING" && (await get("b")).known === "RUNNING" && lines().length === 2);
        const reserve = seenBy(daemon, "engine.db.reserve");
        expect(statSync(reserve).size).toBe(RESERVE);
        const filler = seenBy(daemon, "filler");

        // Until nothing more can be recorded, what was kept for this moment included.
        const applyX = (count: number) =>
          apply({ name: `x${count}`, script: `echo x${count} >> /shared/lines; exit 0`, shared: directory });
        let refused: { readonly status: number; readonly text: string } | undefined;
        let count = 0;
        for (; refused === undefined && count < 500; count++) {
          fill(filler);
          const answer = await applyX(count);
          if (answer.status !== 200) refused = answer;
          else await http(scene.socket, "DELETE", `/v1/tasks/x${count}`);
        }
        expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('"code":"not-written"') });
        expect(existsSync(reserve)).toBe(false);
        expect(await isReadOnly()).toBe(true);
        const isRefused = (line: string) => line.startsWith("x") && Number(line.slice(1)) >= count - 1;
        for (const one of [count, count + 1]) expect((await applyX(one)).status).toBe(503);

        // Seen.
        expect((await scene.ctl("get", "a")).stdout).toContain("RUNNING");
        expect((await http(scene.socket, "GET", "/v1/metrics")).status).toBe(200);
        // One that ends is not started again: that could not be recorded.
        const before = present().find(({ id }) => id.startsWith("default.b."))!;
        process.kill(before.pid, "SIGKILL");
        await until(
          () => present().every(({ id, status }) => !id.startsWith("default.b.") || status === "stopped" || status === ""),
          5_000,
        ).catch(() => {});
        // Stopped, in order, though nobody can write that down.
        const identity = identityOf(present().find(({ id }) => id.startsWith("default.a."))!.pid);
        expect(identity).toMatch(/:/);
        expect((await http(scene.socket, "POST", "/v1/tasks/a/stop")).status).toBe(202);
        await until(() => lines().includes("- a"));
        expect(await isReadOnly()).toBe(true);
        expect(lines().filter((line) => line === "+ b" || line === "+ a")).toHaveLength(2);
        // Those before, whose start was recorded in time, may have begun later than the first was refused.
        const begun = lines().filter((line) => line.startsWith("x"));
        expect([begun.filter(isRefused), begun.length]).toEqual([[], new Set(begun).size]);

        rmSync(filler);
        await until(async () => !(await isReadOnly()));
        await until(async () => (await get("a")).known === "STOPPED");
        expect(await get("a")).toMatchObject({ reason: "the task was stopped", containers: [{ exit: { code: 0 } }] });
        expect(existsSync(reserve)).toBe(true);
        // And what has ended meanwhile is started again.
        await until(() => lines().filter((line) => line === "+ b").length === 2);
        expect((await apply({ name: "later", script: "exit 0" })).status).toBe(200);
        for (const name of ["a", "b", "later"]) expect((await scene.ctl("delete", name)).status).toBe(0);
        await until(() => present().length === 0);
      } finally {
        for (const { id } of present()) inside("delete", "--force", id);
      }
    },
    LONGEST_MS,
  );

  /** One inode is left where `inodes` is given: that of the file that fills the disk. */
  const withFullDisk = async (fillBefore: (daemon: Daemon) => void, ...args: readonly string[]) => {
    const { directory, lines } = sharedIn(scene, `restart-${args.length}-${Math.random()}`);
    mkdirSync(scene.stateDir, { mode: 0o700 });
    const first = await scene.daemon({ before: besideExecutors });
    const inside = (...words: readonly string[]) =>
      execFileSync("nsenter", [`--mount=/proc/${holder.pid}/ns/mnt`, ...words], { encoding: "utf8" });
    // The mounts outlive the daemon.
    const holder = spawn("nsenter", [`--mount=/proc/${first.pid}/ns/mnt`, "sleep", "1000"], { stdio: "ignore" });
    const root = join(scene.stateDir, "executors/@runtime");
    try {
      expect((await apply(server("a", directory))).status).toBe(200);
      await until(async () => (await get("a")).known === "RUNNING" && lines().length === 1);
      await until(() => existsSync(seenBy(first, "engine.db.reserve")));
      fillBefore(first);
      await first.kill();
      const next = await scene.daemon({ in: `/proc/${holder.pid}/ns/mnt`, args });
      expect((await get("a")).known).toBe("RUNNING");
      expect((await http(scene.socket, "POST", "/v1/tasks/a/stop")).status).toBe(202);
      await until(() => lines().includes("- a"));
      expect(next.log()).not.toMatch(/"uncaught|"defect|"event-failed"/);
      return { daemon: next, end: () => rmSync(seenBy(next, "filler")), lines };
    } finally {
      for (const { id } of JSON.parse(inside(RUNT, "--root", root, "list", "-f", "json")) ?? [])
        inside(RUNT, "--root", root, "delete", "--force", id);
      holder.kill();
    }
  };

  test(
    "the next daemon starts on a full disk, shows what runs and stops it; the reserve that this takes is made again",
    async () => {
      const { daemon, end } = await withFullDisk((first) => fill(seenBy(first, "filler")));
      expect(existsSync(seenBy(daemon, "engine.db.reserve"))).toBe(false);
      end();
      await until(() => existsSync(seenBy(daemon, "engine.db.reserve")) && statSync(seenBy(daemon, "engine.db.reserve")).size === RESERVE);
      await until(async () => (await get("a")).known === "STOPPED" && !(await isReadOnly()));
    },
    LONGEST_MS,
  );

  test(
    "and without a reserve, or any room for a file: it is read-only, says so, and goes on when there is room",
    async () => {
      const { daemon, end } = await withFullDisk((first) => {
        rmSync(seenBy(first, "engine.db.reserve"));
        fill(seenBy(first, "filler"));
      });
      expect(await isReadOnly()).toBe(true);
      expect((await apply({ name: "later", script: "exit 0" })).status).toBe(503);
      end();
      await until(async () => (await get("a")).known === "STOPPED" && !(await isReadOnly()));
      await until(() => existsSync(seenBy(daemon, "engine.db.reserve")));
      expect((await apply({ name: "later", script: "exit 0" })).status).toBe(200);
      await until(async () => (await get("later")).known === "STOPPED");
    },
    LONGEST_MS,
  );

  test("a state directory that cannot be written: the daemon does not start, and says why", async () => {
    mkdirSync(scene.stateDir, { mode: 0o700 });
    const daemon = scene.spawn({ before: `${onSmallDisk} && mount -o remount,ro ${scene.stateDir}` });
    expect(await daemon.ended).toBe(1);
    expect(daemon.log()).toMatch(/"not-started","code":"(unreadable|not-written)"/);
  });
});
