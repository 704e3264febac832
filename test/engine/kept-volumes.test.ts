/** The volumes that outlive tasks: they go with the last task that names them (`delete --volumes`), or are listed and removed by themselves (`volumes`). */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("delete --volumes (needs root)", () => {
  const scene = useEngine();
  /** Writes a file into each volume, and takes half a second to end. */
  const user = (name: string, ...volumes: string[]) => {
    const script = `for d in /v/*; do echo ${name} > $d/${name}; done; trap 'sleep 0.5; exit 0' TERM; sleep 1000 & wait`;
    const mounts = volumes.map((volume) => ({ volume, target: `/v/${volume}` }));
    return taskText(scene.rootfs(), name, [{ name: "main", script, fields: { mounts } }], {
      volumes: volumes.map((volume) => ({ name: volume, kept: volume })),
    });
  };
  const fileOf = (...tasks: string[]) => scene.file("volumes.yaml", tasks.join("\n---\n"));
  const filesOf = (volume: string, group = "default") => {
    const path = join(scene.stateDir, "kept", group, volume);
    return existsSync(path) ? readdirSync(path).sort() : undefined;
  };
  const left = () =>
    ["kept", "removed-volumes"].flatMap((name) => (existsSync(join(scene.stateDir, name)) ? readdirSync(join(scene.stateDir, name)) : []));

  test(
    "E80: a volume stays while another task names it, and without the option; the same name in another group is another volume",
    async () => {
      await scene.daemon();
      await scene.ctl("apply", "-f", fileOf(user("db", "data"), user("app", "data", "cache")));
      await scene.ctl("-g", "other", "apply", "-f", fileOf(user("db", "data")));
      await until(() => filesOf("data")?.length === 2 && filesOf("cache")?.length === 1 && filesOf("data", "other")?.length === 1);
      // A task that has stopped can be started again.
      expect((await scene.ctl("stop", "app")).status).toBe(0);
      expect((await scene.ctl("delete", "db", "--volumes")).stdout).toBe("task db deleted\n");
      expect(filesOf("data")).toEqual(["app", "db"]);
      expect((await scene.ctl("delete", "app")).stdout).toBe("task app deleted\n");
      expect([filesOf("data"), filesOf("cache")]).toEqual([["app", "db"], ["app"]]);
      await scene.ctl("apply", "-f", fileOf(user("app", "data", "cache")));
      expect((await scene.ctl("delete", "--all", "--volumes")).stdout).toBe(
        "task app deleted\nvolume data deleted\nvolume cache deleted\n",
      );
      expect([filesOf("data"), filesOf("cache"), filesOf("data", "other")]).toEqual([undefined, undefined, ["db"]]);
      expect((await scene.ctl("-g", "other", "delete", "db", "--volumes")).stdout).toBe("task db deleted\nvolume data deleted\n");
      expect(left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test("a volume that has to be there is not made, and stays when the task goes with its volumes", async () => {
    await scene.daemon();
    const text = `services:\n  app:\n    x-runt-rootfs: ${scene.rootfs()}\n    network_mode: none\n    command: [/bin/sh, -c, "echo x > /v/app; sleep 1000"]
    stop_grace_period: 0s\n    volumes: ["data:/v"]\nvolumes: { data: { external: true } }\n`;
    const file = scene.file("external.yaml", text);
    expect((await scene.ctl("validate", "-f", file)).status).toBe(0);
    for (const verb of ["apply", "plan"])
      expect(await scene.ctl(verb, "-p", "default", "-f", file)).toMatchObject({
        status: 1,
        stdout: "",
        stderr: expect.stringContaining("group default has no volume data"),
      });
    expect([filesOf("data"), (await scene.ctl("get")).stdout]).toEqual([undefined, expect.not.stringContaining("app")]);
    // One that is removed later stops the task when it starts.
    mkdirSync(join(scene.stateDir, "kept/default/data"), { recursive: true });
    expect((await scene.ctl("apply", "-p", "default", "-f", file)).status).toBe(0);
    await until(() => filesOf("data")?.length === 1);
    expect((await scene.ctl("delete", "-p", "default", "-f", file, "--volumes")).stdout).toBe("task app deleted\n");
    expect(filesOf("data")).toEqual(["app"]);
    rmSync(join(scene.stateDir, "kept/default"), { recursive: true });
  });

  test(
    "E80: tasks that share a volume and are deleted together remove it, even if the daemon is killed in between",
    async () => {
      const first = await scene.daemon();
      const file = fileOf(user("db", "data"), user("app", "data"));
      await scene.ctl("apply", "-f", file);
      await until(() => filesOf("data")?.length === 2);
      expect((await scene.ctl("delete", "-f", file, "--volumes", "--no-wait")).stdout).toBe(
        "task db is being deleted\ntask app is being deleted\nvolume data is being deleted\n",
      );
      await first.kill();
      expect(filesOf("data")).toEqual(["app", "db"]);
      await scene.daemon();
      await until(() => scene.list().length === 0 && left().length === 0);
      expect((await scene.ctl("get")).stdout).not.toContain("app");
    },
    LONGEST_MS,
  );

  test(
    "E80: volumes of removed tasks are removed with the file that names them, except for those that another task names",
    async () => {
      await scene.daemon();
      const file = fileOf(user("db", "data", "logs"), user("app", "data", "cache"));
      await scene.ctl("apply", "-f", file);
      await until(() => filesOf("data")?.length === 2 && filesOf("cache")?.length === 1 && filesOf("logs")?.length === 1);
      await scene.ctl("delete", "db");
      await scene.ctl("apply", "-f", scene.file("other.yaml", user("other", "cache")));
      await until(() => filesOf("cache")?.length === 2);
      const deleted = await scene.ctl("delete", "-f", file, "--volumes");
      expect(
        deleted.stdout
          .split("\n")
          .filter((line) => line.startsWith("volume"))
          .sort(),
      ).toEqual(["volume data deleted", "volume logs deleted"]);
      expect([filesOf("data"), filesOf("logs"), filesOf("cache")]).toEqual([undefined, undefined, ["app", "other"]]);
      // Nothing is there any more but the volume.
      expect((await scene.ctl("delete", "other")).status).toBe(0);
      expect((await scene.ctl("delete", "-f", scene.file("other.yaml", user("other", "cache")), "--volumes")).stdout).toBe(
        "task other is not there\nvolume cache deleted\n",
      );
      expect(left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "E80: volumes: the list shows the users of each; if a task names one of several volumes, none of them is removed",
    async () => {
      await scene.daemon();
      await scene.ctl("apply", "-f", fileOf(user("db", "data", "old")));
      await scene.ctl("-g", "other", "apply", "-f", fileOf(user("db", "data")));
      await until(() => filesOf("data")?.length === 1 && filesOf("old")?.length === 1 && filesOf("data", "other")?.length === 1);
      await scene.ctl("apply", "-f", fileOf(user("db", "data")));
      const listed = async (...args: string[]) => JSON.parse((await scene.ctl("volumes", ...args, "-o", "json")).stdout);
      await until(async () => (await listed())[1].tasks.length === 0 && (await listed())[0].tasks.length === 1);
      expect(await listed()).toMatchObject([
        { group: "default", name: "data", usedBytes: null, tasks: [expect.stringMatching(/^default\.db\.\d+$/)] },
        { group: "default", name: "old", tasks: [] },
        { group: "other", name: "data", tasks: [expect.stringMatching(/^other\.db\.\d+$/)] },
      ]);
      writeFileSync(join(scene.stateDir, "kept/default/old/large"), Buffer.alloc(2 ** 20, "x"));
      expect((await listed("--size"))[1].usedBytes).toBeGreaterThan(2 ** 20);
      expect(Date.now() - (await listed())[0].createdMs).toBeLessThan(LONGEST_MS);
      expect((await scene.ctl("volumes", "--size")).stdout).toMatch(
        /^VOLUME +GROUP +SIZE +AGE +USED BY\n(?:.*\n)*old +default +1\.\dMi +\d+s +\n/,
      );
      expect((await scene.ctl("volumes", "-o", "yaml")).stdout).toContain("- group: default\n  name: data\n");

      const refused = await scene.ctl("volumes", "remove", "old", "data");
      expect(refused).toMatchObject({ status: 1, stdout: "" });
      expect(refused.stderr).toMatch(/the volume data is named by default\.db\.\d+/);
      expect((await scene.ctl("volumes", "remove", "old", "none")).stderr).toContain("group default has no volume none");
      expect((await scene.ctl("volumes", "remove", "../other/data")).stderr).toContain("has no volume");
      expect((await scene.ctl("volumes", "remove")).status).toBe(2);
      expect([filesOf("data"), filesOf("data", "other")]).toEqual([["db"], ["db"]]);
      expect((await scene.ctl("volumes", "remove", "old")).stdout).toBe("volume old deleted\n");
      // A task that has stopped can be started again, and names it still.
      expect((await scene.ctl("stop", "db")).status).toBe(0);
      expect((await scene.ctl("volumes", "remove", "--unused")).stdout).toBe("");
      expect((await scene.ctl("delete", "db")).status).toBe(0);
      expect((await scene.ctl("volumes", "remove", "--unused")).stdout).toBe("volume data deleted\n");
      expect(filesOf("data", "other")).toEqual(["db"]);
      expect((await scene.ctl("-g", "other", "delete", "--all", "--volumes")).stdout).toContain("volume data deleted");
      expect([left(), await listed()]).toEqual([[], []]);
    },
    LONGEST_MS,
  );

  test(
    "E80: volumes: a directory that the engine did not make is not removed; a volume that a killed daemon left half removed is removed",
    async () => {
      const kept = join(scene.stateDir, "kept/default");
      const elsewhere = join(scene.directory, "elsewhere");
      for (const path of [elsewhere, join(kept, "mounted"), join(kept, "plain")]) mkdirSync(path, { recursive: true, mode: 0o700 });
      writeFileSync(join(elsewhere, "file"), "");
      symlinkSync(elsewhere, join(kept, "link"));
      execFileSync("chmod", ["-R", "go-rwx", scene.stateDir]);
      execFileSync("mount", ["--bind", elsewhere, join(kept, "mounted")]);
      const first = await scene.daemon();
      try {
        expect(JSON.parse((await scene.ctl("volumes", "-o", "json")).stdout)).toMatchObject([{ name: "plain" }]);
        for (const name of ["link", "mounted"])
          expect((await scene.ctl("volumes", "remove", name)).stderr).toContain(`has no volume ${name}`);
        expect((await scene.ctl("volumes", "remove", "--unused")).stdout).toBe("volume plain deleted\n");
        expect(readdirSync(elsewhere)).toEqual(["file"]);
      } finally {
        execFileSync("umount", [join(kept, "mounted")]);
      }
      const entry = join(scene.stateDir, "removed-volumes/@one");
      mkdirSync(entry, { recursive: true, mode: 0o700 });
      renameSync(join(kept, "mounted"), join(entry, "data"));
      writeFileSync(join(entry, "data/file"), "");
      await first.kill();
      await scene.daemon();
      await until(() => !existsSync(dirname(entry)));
    },
    LONGEST_MS,
  );
});
