/** Watched directories. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import { eventsOf, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("a watched directory (needs root)", () => {
  const scene = useEngine();
  const directory = join(scene.directory, "watched");
  const args = ["--watch", directory, "--watch-every", "100ms"];

  beforeEach(() => {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { mode: 0o755 });
  });

  /** In one step, as an editor and git write files. */
  function put(name: string, text: string): void {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(`${path}~`, text, { mode: 0o644 });
    renameSync(`${path}~`, path);
  }
  const task = (name: string, more = "") =>
    `name: ${name}\n${more}containers:\n  - { name: a, rootfs: ${scene.rootfs()}, command: /bin/sleep, args: ["1000"], stopTimeout: 0s }\n`;
  const tasks = async (): Promise<TaskView[]> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;
  const names = async () => (await tasks()).map(({ name, group, desired }) => `${group}/${name} ${desired}`).sort();
  const ids = async () => (await tasks()).map(({ id }) => id).sort();
  const told = async () =>
    (await eventsOf(scene.socket, 0)).flatMap(({ data }) =>
      data["type"] === "watch" ? [`${data["state"]} ${String(data["path"]).slice(directory.length + 1)}: ${data["message"]}`] : [],
    );
  const node = async () =>
    JSON.parse((await http(scene.socket, "GET", "/v1/node")).text) as { conditions: { type: string; message: string }[] };
  const condition = async (type: string) => (await node()).conditions.find((one) => one.type === type)?.message ?? "";
  const metric = async (line: string) => (await http(scene.socket, "GET", "/v1/metrics")).text.includes(`\n${line}\n`);

  test(
    "files are applied, changed, renamed and pruned, and the tasks of others stay",
    async () => {
      await scene.daemon({ args });
      await scene.ctl("apply", "-f", scene.file("own.yaml", task("own")));
      put("a.yaml", `${task("one")}---\n${task("two")}`);
      put("sub/b.yaml", task("three"));
      await until(async () => (await tasks()).length === 4);
      put("a.yaml", task("one"));
      await until(async () => (await tasks()).length === 3);
      expect(await names()).toEqual(["default/one RUNNING", "default/own RUNNING", "default/three RUNNING"]);
      // A file with another name is the same file: its tasks go on.
      const before = await ids();
      renameSync(join(directory, "a.yaml"), join(directory, "z.yaml"));
      await until(async () => (await told()).some((line) => line.startsWith("removed a.yaml")));
      expect(await ids()).toEqual(before);
      rmSync(join(directory, "sub"), { recursive: true });
      await until(async () => (await tasks()).length === 2);
      expect(await names()).toEqual(["default/one RUNNING", "default/own RUNNING"]);
      expect(await told()).toEqual([
        "applied a.yaml: created one, two",
        "applied sub/b.yaml: created three",
        "applied a.yaml: removed two",
        "applied z.yaml: no task changes",
        "removed a.yaml: no task changes",
        "removed sub/b.yaml: removed three",
      ]);
      // An empty directory may be one that is not mounted.
      rmSync(join(directory, "z.yaml"));
      await until(async () => (await condition("WatchFailed")).includes("has no file any more"));
      expect((await names()).length).toBe(2);
    },
    LONGEST_MS,
  );

  test(
    "tasks of files whose file system is not mounted stay, also for the next daemon, until they are deleted",
    async () => {
      const mounted = join(directory, "share");
      const mount = () => {
        execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "runt-share", mounted]);
        put("share/sub/two.yaml", task("two"));
      };
      mkdirSync(mounted, { mode: 0o755 });
      mount();
      try {
        put("one.yaml", task("one"));
        put("same/three.yaml", task("three"));
        const first = await scene.daemon({ args });
        await until(async () => (await tasks()).length === 3);
        const before = await ids();
        execFileSync("umount", [mounted]);
        const isHeld = async () =>
          (await condition("WatchFailed")).startsWith(
            `the file system that was mounted at ${mounted} is not there: the tasks of ${mounted}/sub/two.yaml stay`,
          );
        await until(isHeld);
        expect(await ids()).toEqual(before);
        await first.kill();
        await scene.daemon({ args });
        await until(isHeld);
        expect(await ids()).toEqual(before);
        mount();
        await until(async () => (await condition("WatchFailed")) === "");
        expect(await ids()).toEqual(before);
        execFileSync("umount", [mounted]);
        rmSync(mounted, { recursive: true });
        await until(isHeld);
        // Other files are removed as always.
        rmSync(join(directory, "same"), { recursive: true });
        await until(async () => (await names()).join() === "default/one RUNNING,default/two RUNNING");
        expect((await scene.ctl("delete", "two")).status).toBe(0);
        await until(async () => (await condition("WatchFailed")) === "");
        expect(await names()).toEqual(["default/one RUNNING"]);
      } finally {
        if (existsSync(join(mounted, "sub"))) execFileSync("umount", [mounted]);
      }
    },
    LONGEST_MS,
  );

  test(
    "a broken file changes nothing and is told, and so are one that others may write and one whose tasks are not its own",
    async () => {
      await scene.daemon({ args });
      put("a.yaml", task("one"));
      await until(async () => (await tasks()).length === 1);
      const before = await ids();
      put("a.yaml", `${task("one")}colour: red\n`);
      await until(async () => (await told()).some((line) => line.startsWith("refused a.yaml: ")));
      await until(async () => (await condition("WatchFailed")).includes('a.yaml:4:1: /colour: the field "colour" is not supported'));
      expect(await ids()).toEqual(before);
      // A reason may quote the file: it is not for readers.
      put("a.yaml", `${task("one")}size: "s3cret"\nstart: s3cret\n`);
      await until(async () => (await condition("WatchFailed")).includes("start"));
      const reader = join(scene.directory, "run/read.sock");
      for (const text of [JSON.stringify(await eventsOf(reader, 0)), (await http(reader, "GET", "/v1/node")).text]) {
        expect(text).toContain("the reason is shown on admin.sock");
        expect(text).not.toMatch(/colour|s3cret|\/start/);
      }
      put("a.yaml", task("one"));
      await until(async () => (await condition("WatchFailed")) === "");
      put("b.yaml", task("two"));
      chmodSync(join(directory, "b.yaml"), 0o666);
      await until(async () => (await condition("WatchFailed")).includes("b.yaml may be written by other users"));
      expect(await metric('runtd_watched_files{state="refused"} 1')).toBe(true);
      put("b.yaml", task("one"));
      await until(async () => (await condition("WatchFailed")).includes("task one of group default was made from"));
      expect(await ids()).toEqual(before);
      rmSync(join(directory, "b.yaml"));
      await until(async () => (await condition("WatchFailed")) === "");
      expect(await metric('runtd_watched_files{state="refused"} 0')).toBe(true);
    },
    LONGEST_MS,
  );

  test(
    "what users change is told as drift, and not undone, also by the next daemon; a change meanwhile is applied by it",
    async () => {
      const daemon = await scene.daemon({ args });
      put("a.yaml", task("one"));
      put("b.yaml", task("two"));
      await until(async () => (await tasks()).length === 2);
      await scene.ctl("stop", "one");
      await until(async () => (await condition("Drifted")).includes("a.yaml: one was stopped"));
      expect(await metric("runtd_watch_drifted 1")).toBe(true);
      await daemon.kill();
      put("b.yaml", task("three"));
      await scene.daemon({ args });
      await until(async () => (await names()).includes("default/three RUNNING") && (await tasks()).length === 2);
      await until(async () => (await condition("Drifted")).includes("a.yaml: one was stopped"));
      expect(await names()).toEqual(["default/one STOPPED", "default/three RUNNING"]);
      await scene.ctl("start", "one");
      await until(async () => (await condition("Drifted")) === "");
      expect(await told()).toEqual([
        "applied a.yaml: created one",
        "applied b.yaml: created two",
        "drifted a.yaml: one was stopped",
        "drifted a.yaml: one was stopped",
        "applied b.yaml: created three; removed two",
        "matches a.yaml: the tasks are as the file says",
      ]);
    },
    LONGEST_MS,
  );

  test(
    "a daemon that is killed at any moment leaves the next one neither a version that was applied twice nor one that was left out",
    async () => {
      const version = (round: number) => task("one").replace('"1000"', `"${1000 + round}"`);
      const rounds = 6;
      let daemon = await scene.daemon({ args });
      for (let round = 1; round <= rounds; round++) {
        put("a.yaml", version(round));
        await sleep(Math.random() * 600);
        await daemon.kill();
        daemon = await scene.daemon({ args });
      }
      const applied = async () => (await told()).filter((line) => line.startsWith("applied a.yaml"));
      const added = async () =>
        (await eventsOf(scene.socket, 0)).filter(({ data }) => data["type"] === "added").map(({ data }) => data["digest"]);
      const wanted = async () => {
        const { text } = await http(scene.socket, "GET", "/v1/tasks/one/detail");
        return JSON.parse(text).spec?.containers[0].args[0] === String(1000 + rounds);
      };
      await until(wanted);
      await until(async () => (await names()).join() === "default/one RUNNING");
      expect(new Set(await added()).size).toBe((await added()).length);
      expect((await applied()).length).toBe((await added()).length);
    },
    LONGEST_MS,
  );

  test(
    "a link that is switched to another directory is a change of the files below it",
    async () => {
      const release = (name: string) => join(scene.directory, name);
      for (const name of ["release-1", "release-2"]) mkdirSync(release(name), { mode: 0o755 });
      writeFileSync(join(release("release-1"), "a.yaml"), `${task("one")}---\n${task("two")}`);
      writeFileSync(join(release("release-2"), "a.yaml"), task("one"));
      rmSync(directory, { recursive: true });
      symlinkSync("release-1", directory);
      await scene.daemon({ args });
      await until(async () => (await tasks()).length === 2);
      const before = await ids();
      symlinkSync("release-2", `${directory}.new`);
      renameSync(`${directory}.new`, directory);
      await until(async () => (await tasks()).length === 1);
      expect(before).toContain((await ids())[0]);
      expect(await told()).toEqual(["applied a.yaml: created one, two", "applied a.yaml: removed two"]);
    },
    LONGEST_MS,
  );

  test(
    "a Compose project has its own group, follows the files that it names, and its origin has the commit of git",
    async () => {
      const git = (...words: readonly string[]) =>
        execFileSync("git", ["-C", directory, "-c", "user.name=a", "-c", "user.email=a@runt.invalid", ...words], {
          encoding: "utf8",
        }).trim();
      if (existsSync("/usr/bin/git")) git("init", "-q", "-b", "main");
      const daemon = await scene.daemon({ args });
      put("shop/.env", "SECONDS=1000\n");
      put(
        "shop/compose.yaml",
        `services:\n  web: { x-runt-rootfs: ${scene.rootfs()}, network_mode: none, command: [/bin/sleep, "$SECONDS"], stop_grace_period: 0s }\n`,
      );
      if (existsSync("/usr/bin/git")) {
        git("add", "-A");
        git("commit", "-q", "-m", "one");
      }
      await until(async () => (await tasks()).length === 1);
      expect(await names()).toEqual(["shop/web RUNNING"]);
      const before = await ids();
      put("shop/.env", "SECONDS=2000\n");
      await until(async () => {
        const now = await ids();
        return now.length === 1 && now[0] !== before[0];
      });
      const events = (await eventsOf(scene.socket, 0)).map(({ data }) => data);
      if (existsSync("/usr/bin/git")) {
        const commit = git("rev-parse", "HEAD");
        const path = join(directory, "shop/compose.yaml");
        expect(events.findLast(({ type }) => type === "watch")).toMatchObject({ commit, group: "shop" });
        expect(events.findLast(({ type }) => type === "request")).toMatchObject({ by: { uid: 0, via: `watch ${path}@${commit}` } });
      }
      put("shop/compose.yaml", "services:\n  web: { build: . }\n");
      await until(async () => (await condition("WatchFailed")).includes("service web is built"));
      // It is still its project after the daemon was killed.
      await daemon.kill();
      await scene.daemon({ args });
      const other = await scene.ctl("apply", "-g", "shop", "-f", scene.file("web.yaml", task("web")));
      expect([other.status, other.stderr]).toEqual([1, expect.stringContaining("--take-over")]);
      // A user who applies the same project from a shell would take it from the directory.
      const user = await scene.ctl(
        "apply",
        "-p",
        "shop",
        "-f",
        scene.file("compose.yaml", `services:\n  web: { x-runt-rootfs: ${scene.rootfs()}, network_mode: none, command: x }\n`),
      );
      expect([user.status, user.stderr]).toEqual([1, expect.stringContaining("--take-over")]);
    },
    LONGEST_MS,
  );
});
