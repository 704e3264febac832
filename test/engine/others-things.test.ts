/** Something of somebody else's in the place of what a daemon has on disk: it is not waited for, not followed, not taken over and not emptied. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("what is not the daemon's (needs root)", () => {
  const scene = useEngine();
  const own = (name: string) => {
    const path = join(scene.stateDir, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return path;
  };
  const theirs = () => {
    const path = join(scene.directory, "theirs");
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "precious"), "precious");
    return path;
  };
  const bind = (from: string, to: string) => {
    mkdirSync(to, { recursive: true });
    execFileSync("mount", ["--bind", from, to]);
  };
  const whole = (path: string) => [readdirSync(path), readFileSync(join(path, "precious"), "utf8")];
  const WHOLE = [["precious"], "precious"];
  const entriesOf = (name: string) => (existsSync(own(name)) ? readdirSync(own(name)) : []);

  test(
    "a start waits for none of it, and says what it leaves",
    async () => {
      const precious = theirs();
      const file = join(precious, "precious");
      for (const fifo of ["network/attachments/stray.json", "images/layout/index.json", "images/unsynced/one"])
        execFileSync("mkfifo", [own(fifo)]);
      for (const link of ["images/layout/oci-layout", "images/layout/oci-layout.new", "engine.db.reserve", "engine.db.reserve.new"])
        symlinkSync(file, own(link));
      for (const link of ["images/staging/pull-1", "images/roots/stray", "secrets/link"]) symlinkSync(precious, own(link));
      writeFileSync(own("images/staging/blob-1"), "half");
      mkdirSync(own("secrets/stray"), { recursive: true });
      writeFileSync(own("secrets/stray/theirs"), "precious");
      bind(precious, own("removed-volumes/@alone/data/deep"));
      const daemon = await scene.daemon();
      expect(whole(precious)).toEqual(WHOLE);
      expect(daemon.log()).toMatch(/"secrets-left".*ENOTEMPTY/);
      expect([entriesOf("secrets"), entriesOf("secrets/stray"), entriesOf("images/staging"), entriesOf("images/roots")]).toEqual([
        ["stray"],
        ["theirs"],
        [],
        [],
      ]);
      await until(() => entriesOf("removed-volumes").length === 0);
      expect(whole(precious)).toEqual(WHOLE);
      expect((await http(scene.socket, "GET", "/v1/images")).status).toBe(200);
    },
    LONGEST_MS,
  );

  test(
    "a directory in the place of a task's file is removed if it is empty; another one stays, and the host tells of it as long as it is in the way",
    async () => {
      await scene.daemon();
      const text = taskText(scene.rootfs(), "t", [{ name: "a", script: SLEEP }]);
      const replaced = async (make: (path: string) => void) => {
        expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
        const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
        await until(async () => (await task()).known === "RUNNING");
        const path = own(`tasks/${(await task()).id}.json`);
        rmSync(path);
        make(path);
        expect((await http(scene.socket, "DELETE", "/v1/tasks/t")).status).toBe(202);
        return path;
      };
      const isGone = async () => (await http(scene.socket, "GET", "/v1/tasks/t")).status === 404;
      const conditions = async () => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text).conditions;
      const empty = await replaced((path) => mkdirSync(path));
      await until(isGone);
      expect([existsSync(empty), await conditions()]).toEqual([false, []]);
      const full = await replaced((path) => mkdirSync(join(path, "theirs"), { recursive: true }));
      await until(async () => (await conditions()).length > 0);
      expect(await conditions()).toEqual([{ type: "NotRemoved", message: expect.stringContaining(full) }]);
      expect(readdirSync(full)).toEqual(["theirs"]);
      rmSync(full, { recursive: true });
      await until(isGone);
      expect(await conditions()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "what is mounted in the directories of a task is unmounted with it, and nothing of it is removed",
    async () => {
      const precious = theirs();
      await scene.daemon();
      const mounts = [
        { volume: "scratch", target: "/scratch" },
        { volume: "data", target: "/data" },
      ];
      const volumes = [{ name: "scratch" }, { name: "data", kept: "data" }];
      const text = taskText(scene.rootfs(), "t", [{ name: "a", script: SLEEP, fields: { mounts, metadata: "/meta" } }], { volumes });
      expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
      const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
      await until(async () => (await task()).known === "RUNNING");
      const { id } = await task();
      const places = [`volumes/${id}/scratch/deep`, "kept/default/data/deep", `logs/${id}/deep`, `metadata/${id}/deep`];
      for (const place of places) bind(precious, own(place));
      const left = () => ["volumes", "kept", "logs", "metadata", "removed-volumes"].flatMap(entriesOf);
      expect((await scene.ctl("delete", "t", "--volumes")).status).toBe(0);
      await until(() => left().length === 0);
      expect(whole(precious)).toEqual(WHOLE);
      expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(`${scene.stateDir}/volumes`);
    },
    LONGEST_MS,
  );

  test(
    "a volume in which something is mounted is not removed by itself, and that is said",
    async () => {
      const precious = theirs();
      await scene.daemon();
      bind(precious, own("kept/default/data/deep"));
      const answer = await scene.ctl("volumes", "remove", "data");
      expect(answer.status).not.toBe(0);
      expect(answer.stderr).toContain("something is mounted at");
      expect(whole(precious)).toEqual(WHOLE);
      execFileSync("umount", [own("kept/default/data/deep")]);
      expect((await scene.ctl("volumes", "remove", "data")).status).toBe(0);
      expect(entriesOf("kept")).toEqual([]);
    },
    LONGEST_MS,
  );
});
