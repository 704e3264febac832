/** `delete --volumes`: the volumes that outlive tasks go with the last task that names them. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("delete --volumes (needs root)", () => {
  const scene = useEngine();
  /** Writes a file into each volume, and takes half a second to end. */
  const user = (name: string, ...volumes: string[]) => {
    const script = `for d in /v/*; do echo ${name} > $d/${name}; done; trap 'sleep 0.5; exit 0' TERM; while :; do sleep 0.05; done`;
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
    "a volume stays while another task names it, and without the option; of another group it is another one",
    async () => {
      await scene.daemon();
      await scene.ctl("apply", "-f", fileOf(user("db", "data"), user("app", "data", "cache")));
      await scene.ctl("-g", "other", "apply", "-f", fileOf(user("db", "data")));
      await until(() => filesOf("data")?.length === 2 && filesOf("cache")?.length === 1 && filesOf("data", "other")?.length === 1);
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

  test(
    "tasks that share one and are deleted together take it along, also when the daemon is killed meanwhile",
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
});
