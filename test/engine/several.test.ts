/** Verbs about several tasks at once: those that are named, those of a file, all of a group. */
import { describe, expect, test } from "vitest";
import { http, isRoot, LONGEST_MS, type ScriptTask, scriptTask, sharedIn, until, useEngine } from "./support.ts";

interface Shown {
  readonly name: string;
  readonly known: string;
  readonly containers: readonly { readonly generation: number }[];
}

describe.skipIf(!isRoot)("several tasks at once (needs root)", () => {
  const scene = useEngine();
  const names = async (): Promise<string[]> =>
    JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks.map(
      (one: { group: string; name: string }) => `${one.group}/${one.name}`,
    );
  /** Says `+ NAME` when it begins, `? NAME` when it is asked to end, and `- NAME` when it ends, half a second later. */
  const server = (name: string, directory: string, rest: Partial<ScriptTask> = {}): ScriptTask => ({
    name,
    script: `echo + ${name} >> /shared/lines; trap 'echo ? ${name} >> /shared/lines; sleep 0.5; echo - ${name} >> /shared/lines; exit 0' TERM; sleep 1000 & wait`,
    shared: directory,
    ...rest,
  });
  /** Each of these ends before the next one is asked to. */
  const inTurn = (...names: string[]) => names.flatMap((name) => [`? ${name}`, `- ${name}`]);
  const after = (target: string) => ({ container: `dependsOn: [{ container: ${target}/main, condition: START }]` });
  const fileOf = (name: string, tasks: readonly ScriptTask[]) =>
    scene.file(name, tasks.map((task) => scriptTask(scene.rootfs(), task)).join(""));

  test(
    "E92: delete -f: the tasks of the file end in the inverse order of their dependencies, and nothing of them is left; others of the group stay",
    async () => {
      const { directory, lines } = sharedIn(scene, "delete-file");
      await scene.daemon();
      await scene.ctl("apply", "-f", fileOf("other.yaml", [server("other", directory)]));
      const tasks = [server("db", directory), server("app", directory, after("db")), server("web", directory, after("app"))];
      const file = fileOf("shop.yaml", tasks);
      await scene.ctl("apply", "-f", file);
      await until(() => lines().length === 4);
      const begun = lines().length;
      expect(await scene.ctl("delete", "-f", file)).toEqual({
        status: 0,
        stdout: "task db deleted\ntask app deleted\ntask web deleted\n- task other is not in the file\n",
        stderr: "",
      });
      expect(lines().slice(begun)).toEqual(inTurn("web", "app", "db"));
      expect([await names(), scene.list().map(({ id }) => id.split(".")[1])]).toEqual([["default/other"], ["other"]]);
      // What is not there does not keep it from being done again.
      expect(await scene.ctl("delete", "-f", file)).toMatchObject({
        status: 0,
        stdout: "task db is not there\ntask app is not there\ntask web is not there\n- task other is not in the file\n",
      });
      const broken = scene.file("broken.yaml", "name: db\ncontainers: [{ nam: x }]\n");
      expect(await scene.ctl("delete", "-f", broken)).toMatchObject({ status: 1, stderr: expect.stringContaining("broken.yaml:2:") });
      expect((await scene.ctl("delete", "other")).status).toBe(0);
    },
    LONGEST_MS,
  );

  test(
    "a name that is wrong: nothing is done. All of a group: nothing of other groups, and a success that is remembered is forgotten",
    async () => {
      const { directory, lines } = sharedIn(scene, "delete-group");
      await scene.daemon();
      const shot: ScriptTask = { name: "shot", script: "exit 0", shared: directory, task: "retention: 0s" };
      const file = fileOf("group.yaml", [server("a", directory), server("b", directory), shot]);
      await scene.ctl("-g", "shop", "apply", "-f", file);
      await scene.ctl("apply", "-f", fileOf("one.yaml", [server("stays", directory)]));
      await until(async () => lines().length === 3 && (await names()).length === 3);
      for (const verb of ["delete", "stop"])
        expect(await scene.ctl("-g", "shop", verb, "a", "nobody", "b")).toMatchObject({
          status: 1,
          stderr: expect.stringContaining("there is no task nobody in group shop"),
        });
      // Who forgets the group is told where such a task is.
      for (const words of [
        ["get", "a"],
        ["exec", "a", "true"],
        ["restart", "a"],
        ["logs", "a"],
        ["delete", "a"],
      ])
        expect((await scene.ctl(...words)).stderr, words[0]).toContain("there is no task a in group default; there is one with -g shop");
      expect((await scene.ctl("-g", "none", "get")).stderr).toBe("no tasks in group none; other groups have 3: -A shows them\n");
      for (const words of [[], ["a", "--all"], ["a", "-f", file]])
        expect(await scene.ctl("-g", "shop", "delete", ...words)).toMatchObject({
          status: 2,
          stderr: expect.stringContaining("give task names, -f FILE, -p PROJECT, or --all"),
        });
      expect(scene.list().filter(({ status }) => status === "running")).toHaveLength(3);
      expect(await scene.ctl("-g", "shop", "delete", "--all")).toEqual({
        status: 0,
        stdout: "task a deleted\ntask b deleted\ntask shot deleted\n",
        stderr: "",
      });
      expect(await names()).toEqual(["default/stays"]);
      expect((await scene.ctl("-g", "shop", "plan", "-f", file)).stdout).toContain("+ task shot would be started");
      expect((await scene.ctl("-g", "shop", "delete", "--all")).stdout).toBe("the group has no tasks\n");
      expect((await scene.ctl("delete", "stays")).status).toBe(0);
    },
    LONGEST_MS,
  );

  test(
    "E92: stop -f: the order is that of delete, the tasks stay, and apply starts them again; what apply --prune removes ends in that order, too",
    async () => {
      const { directory, lines } = sharedIn(scene, "stop-file");
      await scene.daemon();
      const file = fileOf("pair.yaml", [server("db", directory), server("web", directory, after("db"))]);
      await scene.ctl("apply", "-f", file);
      await until(() => lines().length === 2);
      expect(await scene.ctl("stop", "-f", file)).toEqual({ status: 0, stdout: "task db stopped\ntask web stopped\n", stderr: "" });
      expect(lines().slice(2)).toEqual(inTurn("web", "db"));
      expect([await names(), scene.list().filter(({ status }) => status === "running")]).toEqual([["default/db", "default/web"], []]);
      expect((await scene.ctl("apply", "-f", file)).stdout).toBe("task db started\ntask web started\n");
      await until(() => lines().length === 8);
      await scene.ctl("apply", "--prune", "--take-over", "-f", fileOf("other.yaml", [server("other", directory)]));
      await until(async () => (await names()).join() === "default/other" && lines().length === 13);
      const stops = lines().slice(8);
      expect(stops.filter((line) => !line.startsWith("+"))).toEqual(inTurn("web", "db"));
      expect((await scene.ctl("delete", "other")).stdout).toBe("task other deleted\n");
      expect([await names(), scene.list()]).toEqual([[], []]);
    },
    LONGEST_MS,
  );

  test(
    "restart -f: each task of the file that runs begins once more, also one that is to follow another; what has stopped stays, and a wrong name does nothing",
    async () => {
      const { directory, lines } = sharedIn(scene, "restart-file");
      await scene.daemon();
      const follows = { container: "dependsOn: [{ container: db/main, condition: START, restart: true }]" };
      const shot: ScriptTask = { name: "shot", script: "exit 0", shared: directory };
      const file = fileOf("trio.yaml", [server("db", directory), server("web", directory, follows), shot]);
      await scene.ctl("apply", "-f", fileOf("other.yaml", [server("other", directory)]));
      await scene.ctl("apply", "-f", file);
      const runs = async () =>
        Object.fromEntries(
          (JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks as Shown[]).map(({ name, known, containers: [first] }) => [
            name,
            `${known} ${first!.generation}`,
          ]),
        );
      await until(async () => lines().length === 3 && (await runs())["shot"] === "STOPPED 1");
      for (const words of [
        ["db", "nobody"],
        ["db", "shot"],
      ])
        expect(await scene.ctl("restart", ...words)).toMatchObject({ status: 1, stderr: expect.stringMatching(/nobody|shot has stopped/) });
      for (const words of [["db", "web", "-c", "main"], ["web", "--all"], []])
        expect((await scene.ctl("restart", ...words)).status).toBe(2);
      expect(lines()).toHaveLength(3);
      expect(await scene.ctl("restart", "-f", file)).toEqual({
        status: 0,
        stdout: "task db is being restarted\ntask web is being restarted\n- task other is not in the file\ntask shot has stopped\n",
        stderr: "",
      });
      const once = { db: "RUNNING 2", web: "RUNNING 2", shot: "STOPPED 1", other: "RUNNING 1" };
      await until(async () => JSON.stringify(Object.entries(await runs()).sort()) === JSON.stringify(Object.entries(once).sort()));
      await until(() => lines().filter((line) => line.startsWith("+")).length === 5);
      expect((await scene.ctl("restart", "web", "other")).stdout).toBe("task other is being restarted\ntask web is being restarted\n");
      await until(() => lines().filter((line) => line.startsWith("+")).length === 7);
      expect(await runs()).toMatchObject({ db: "RUNNING 2", web: expect.stringMatching(/3$/), other: expect.stringMatching(/2$/) });
      expect((await scene.ctl("delete", "--all")).status).toBe(0);
    },
    LONGEST_MS,
  );

  test(
    "a daemon that is killed when it has answered: the next one ends all of the group, in order",
    async () => {
      const { directory, lines } = sharedIn(scene, "delete-kill");
      const first = await scene.daemon();
      await scene.ctl("apply", "-f", fileOf("pair.yaml", [server("db", directory), server("web", directory, after("db"))]));
      await until(() => lines().length === 2);
      expect((await scene.ctl("delete", "--all", "--no-wait")).stdout).toBe("task db is being deleted\ntask web is being deleted\n");
      await first.kill();
      await scene.daemon();
      await until(async () => (await names()).length === 0);
      // Both daemons may have asked `web` to end.
      expect([[...new Set(lines().slice(2))], scene.list()]).toEqual([inTurn("web", "db"), []]);
    },
    LONGEST_MS,
  );

  test(
    "a Compose file: its project is the group",
    async () => {
      const { directory, lines } = sharedIn(scene, "delete-compose");
      await scene.daemon();
      const service = (name: string) =>
        `  ${name}:\n    x-runt-rootfs: ${scene.rootfs()}\n    command: [/bin/sh, -c, "echo + ${name} >> /shared/lines; sleep 1000"]\n    stop_signal: SIGKILL\n    volumes: ["${directory}:/shared"]\n    network_mode: none\n`;
      const file = scene.file("compose.yaml", `name: store\nservices:\n${service("web")}${service("db")}`);
      const applied = await scene.ctl("apply", "-f", file);
      expect(applied).toMatchObject({ status: 0 });
      await until(() => lines().length === 2);
      expect((await names()).sort()).toEqual(["store/db", "store/web"]);
      expect(await scene.ctl("delete", "-f", file)).toMatchObject({ status: 0, stderr: "" });
      expect([await names(), scene.list()]).toEqual([[], []]);
    },
    LONGEST_MS,
  );
});
