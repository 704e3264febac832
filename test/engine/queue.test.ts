/** Room on the host: who starts, who waits and why. What runs is seen in the containers' own words and in runt's list. */
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import { eventsOf, http, isRoot, LONGEST_MS, type ScriptTask, scriptTask, sharedIn, until, useEngine } from "./support.ts";

/** RUNT_ENGINE_TASKS=1000: the long form. */
const TASKS = Number(process.env["RUNT_ENGINE_TASKS"] ?? 60);

describe.skipIf(!isRoot)("the queue (needs root)", () => {
  const scene = useEngine();
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const node = async () => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
  const shared = (name: string) => sharedIn(scene, name);
  const apply = async (...tasks: readonly ScriptTask[]): Promise<void> => {
    const text = tasks.map((task) => scriptTask(scene.rootfs(), task)).join("");
    const { status, text: answer } = await http(scene.socket, "POST", "/v1/apply", { text });
    expect([status, answer]).toEqual([200, expect.anything()]);
  };
  const remove = async (name: string) => expect((await http(scene.socket, "DELETE", `/v1/tasks/${name}`)).status).toBe(202);
  const running = () => scene.list().flatMap(({ id, status }) => (status === "running" ? [id.split(".")[1]] : []));
  const sleeper = (name: string, container: string, task = ""): ScriptTask => ({
    name,
    script: "exec sleep 1000",
    task,
    container: `stopSignal: SIGKILL
    ${container}`,
  });

  test(
    "E10 E16 after a restart of the daemon, running tasks keep their share, and tasks that do not fit wait with the reason",
    async () => {
      const limits = { args: ["--cpus", "2", "--memory", "1Gi"] };
      const first = await scene.daemon(limits);
      await apply(sleeper("one", "cpus: 1"), sleeper("two", "cpus: 1"), sleeper("three", "cpus: 1"));
      await until(() => running().length === 2);
      const last = (await node()).lastSequence;
      await first.kill();
      await scene.daemon(limits);
      expect((await node()).ledger.cpus).toEqual({ capacity: 2, used: 2 });
      expect([(await get("three")).waiting, running().sort()]).toEqual([["cpu: needs 1, free 0"], ["one", "two"]]);
      expect((await scene.ctl("get", "three")).stdout).toMatch(/three +main +WAITING .* cpu: needs 1, free 0\n/);
      // Nobody has waited again: what runs was never asked.
      expect((await eventsOf(scene.socket, last)).map(({ data }) => data["type"])).not.toEqual(
        expect.arrayContaining(["waiting", "admitted"]),
      );
      await remove("one");
      await until(() => running().sort().join() === "three,two");
    },
    LONGEST_MS,
  );

  test(
    "E10 if the capacity is configured below the running tasks, the daemon says so, and starts no more tasks",
    async () => {
      const first = await scene.daemon({ args: ["--cpus", "2"] });
      await apply(sleeper("one", "cpus: 1"), sleeper("two", "cpus: 1"));
      await until(() => running().length === 2);
      await first.kill();
      await scene.daemon({ args: ["--cpus", "1"] });
      expect((await node()).conditions).toEqual([{ type: "Overcommitted", message: "cpu: 2 of 1 are taken" }]);
      await apply(sleeper("three", "cpus: 0.5"));
      expect(running().sort()).toEqual(["one", "two"]);
      await remove("one");
      await until(async () => (await get("two")).known === "RUNNING" && (await node()).conditions.length === 0);
      expect(running()).toEqual(["two"]);
    },
    LONGEST_MS,
  );

  test(
    "E12 E14 waiting tasks start in the order in which they were applied, also over a restart",
    async () => {
      const { directory, lines } = shared("order");
      const first = await scene.daemon({ args: ["--cpus", "1"] });
      const brief = (name: string): ScriptTask => ({
        name,
        script: `echo ${name} >> /shared/lines`,
        container: "cpus: 1",
        shared: directory,
      });
      await apply(sleeper("holder", "cpus: 1"));
      // Neither by name nor by id: t10 stands before t9 in both.
      const names = ["zoe", "t9", "t10", "ann"];
      for (const name of names) await apply(brief(name));
      await until(() => running().length === 1);
      await first.kill();
      await scene.daemon({ args: ["--cpus", "1"] });
      expect(lines()).toEqual([]);
      await remove("holder");
      await until(() => lines().length === names.length);
      expect(lines()).toEqual(names);
    },
    LONGEST_MS,
  );

  test(
    "E14 a large task at the head of the queue blocks a small task, but not with backfill",
    async () => {
      const tasks = [sleeper("base", "cpus: 2"), sleeper("large", "cpus: 3"), sleeper("small", "cpus: 1")];
      const strict = await scene.daemon({ args: ["--cpus", "4"] });
      await apply(...tasks);
      await until(() => running().length === 1);
      expect((await get("large")).waiting).toEqual(["cpu: needs 3, free 2"]);
      expect((await get("small")).waiting).toEqual([expect.stringMatching(/^order: default\.large\.\d+ is before it$/)]);
      await strict.kill();
      await scene.daemon({ args: ["--cpus", "4", "--queue", "backfill"] });
      await until(() => running().length === 2);
      expect(running().sort()).toEqual(["base", "small"]);
      expect((await get("large")).waiting).toEqual(["cpu: needs 3, free 1"]);
    },
    LONGEST_MS,
  );

  test(
    "E15 a waiting task stops at once, and holds no resources",
    async () => {
      await scene.daemon({ args: ["--cpus", "1"] });
      await apply(sleeper("one", "cpus: 1"), sleeper("two", "cpus: 1"));
      await until(() => running().length === 1);
      const begun = Date.now();
      expect((await scene.ctl("delete", "two")).status).toBe(0);
      expect(Date.now() - begun).toBeLessThan(60_000);
      expect([(await node()).ledger.cpus.used, running()]).toEqual([1, ["one"]]);
    },
    LONGEST_MS,
  );

  test(
    "E11 two tasks need the same host port: the second waits for it",
    async () => {
      await scene.daemon();
      const listener = (name: string) => sleeper(name, "", "namespaces: { network: host }\nports: [{ port: 8080 }]");
      await apply(listener("one"), listener("two"));
      await until(() => running().length === 1);
      expect((await get("two")).waiting).toEqual(["port: 8080/tcp is taken by default.one.1"]);
      await remove("one");
      await until(() => running().join() === "two");
    },
    LONGEST_MS,
  );

  test(
    "what is larger than the host waits without holding back others, or is refused",
    async () => {
      const waiting = await scene.daemon({ args: ["--memory", "64Mi"] });
      await apply(sleeper("giant", "memory: 65Mi"), sleeper("small", "memory: 1Mi"));
      await until(() => running().join() === "small");
      expect((await get("giant")).waiting).toEqual([expect.stringMatching(/^memory: needs .*: more than the host has$/)]);
      await waiting.kill();
      await scene.daemon({ args: ["--memory", "64Mi", "--too-large", "refuse"] });
      // Also one that waits since before.
      await until(async () => (await get("giant")).known === "STOPPED");
      expect((await get("giant")).reason).toMatch(/^memory: needs .*: more than the host has$/);
      expect(running()).toEqual(["small"]);
    },
    LONGEST_MS,
  );

  test(
    "E13 E35 with many short tasks and capacity for a few, all run, none is lost, and never more run at once than fit",
    async () => {
      const { directory, lines } = shared("many");
      const most = Math.min(20, TASKS / 4);
      await scene.daemon({ args: ["--cpus", String(most)] });
      const names = Array.from({ length: TASKS }, (_, index) => `n${index}`);
      const script = (name: string) => `echo + ${name} >> /shared/lines; sleep 0.05; echo - ${name} >> /shared/lines`;
      for (let from = 0; from < TASKS; from += 100) {
        await apply(
          ...names
            .slice(from, from + 100)
            .map((name) => ({ name, script: script(name), task: "retention: 0s", container: "cpus: 1", shared: directory })),
        );
      }
      await until(async () => (await node()).tasks === 0, 1_000 * TASKS + LONGEST_MS);
      const said = lines().map((line) => line.split(" "));
      const of = (sign: string) => said.flatMap(([what, name]) => (what === sign ? [name!] : []));
      expect(of("+").toSorted()).toEqual(names.toSorted());
      expect(of("-").toSorted()).toEqual(names.toSorted());
      let now = 0;
      const counts = said.map(([what]) => (now += what === "+" ? 1 : -1));
      expect(Math.max(...counts)).toBeLessThanOrEqual(most);
      const admitted = (await eventsOf(scene.socket, 0)).filter(({ data }) => data["type"] === "admitted");
      // Of so many the journal has only the last ones.
      expect(admitted.map(({ data }) => data["name"])).toEqual(names.slice(-admitted.length));
      expect(admitted.length).toBeGreaterThan(TASKS / 2);
      expect(scene.list()).toEqual([]);
    },
    1_000 * TASKS + 2 * LONGEST_MS,
  );
});
