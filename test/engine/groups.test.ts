/** What becomes of a group when its file changes, and what a user can ask of a task. The containers tell themselves when they begin and end. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import { http, identityOf, isRoot, LONGEST_MS, type ScriptTask, scriptTask, sharedIn, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("groups (needs root)", () => {
  const scene = useEngine();
  const tasks = async (): Promise<TaskView[]> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const shared = (name: string) => sharedIn(scene, name);
  const apply = async (list: readonly ScriptTask[], ...args: string[]) => {
    const file = scene.file("group.yaml", list.map((task) => scriptTask(scene.rootfs(), task)).join(""));
    const { status, stdout, stderr } = await scene.ctl("apply", "-f", file, ...args);
    expect([status, stderr]).toEqual([0, ""]);
    return stdout.trimEnd().split("\n");
  };
  const running = () => scene.list().filter(({ status }) => status === "running");
  /** It says `+ WORD` when it begins, and `- WORD` when it is asked to end. */
  const server = (name: string, word: string, directory: string, rest: Partial<ScriptTask> = {}): ScriptTask => ({
    name,
    script: `echo + ${word} >> /shared/lines; trap 'echo - ${word} >> /shared/lines; exit 0' TERM; sleep 1000 & wait`,
    shared: directory,
    ...rest,
  });

  test(
    "a file that has changed: the old task ends, then the new one begins; what is the same stays the same process",
    async () => {
      const { directory, lines } = shared("replace");
      await scene.daemon();
      expect(await apply([server("web", "v1", directory), server("db", "db", directory)])).toEqual(["task web created", "task db created"]);
      await until(() => lines().length === 2);
      const db = running().find(({ id }) => id.includes(".db."))!;
      expect(await apply([server("web", "v2", directory), server("db", "db", directory)])).toEqual([
        "task web replaced",
        "task db unchanged",
      ]);
      await until(() => lines().length === 4);
      expect(lines().filter((line) => !line.includes("db"))).toEqual(["+ v1", "- v1", "+ v2"]);
      await until(() => running().length === 2 && scene.list().length === 2);
      expect(running().map(({ pid }) => pid)).toContain(db.pid);
      expect((await tasks()).map(({ id }) => id)).toEqual(["default.db.2", "default.web.3"]);
    },
    LONGEST_MS,
  );

  test(
    "limits only: the same process has other limits in the kernel",
    async () => {
      const { directory, lines } = shared("limits");
      await scene.daemon();
      await apply([server("web", "v1", directory, { container: "memory: 64Mi" })]);
      await until(() => lines().length === 1);
      const [before] = running();
      const process = identityOf(before!.pid);
      expect(memoryLimit(before!.pid)).toBe(64 * 1024 ** 2);
      expect(await apply([server("web", "v1", directory, { container: "memory: 96Mi" })])).toEqual(["task web updated"]);
      await until(() => memoryLimit(before!.pid) === 96 * 1024 ** 2);
      expect([identityOf(running()[0]!.pid), lines()]).toEqual([process, ["+ v1"]]);
      expect(await apply([server("web", "v1", directory, { container: "memory: 96Mi" })])).toEqual(["task web unchanged"]);
      // A limit that is taken away needs a new container.
      expect(await apply([server("web", "v1", directory)])).toEqual(["task web replaced"]);
    },
    LONGEST_MS,
  );

  test(
    "limits that the host does not have are refused, and nothing changes",
    async () => {
      const { directory, lines } = shared("no-room");
      await scene.daemon({ args: ["--cpus", "1"] });
      await apply([server("web", "v1", directory, { container: "cpus: 0.5" })]);
      await until(() => lines().length === 1);
      const file = scene.file("group.yaml", scriptTask(scene.rootfs(), server("web", "v1", directory, { container: "cpus: 2" })));
      expect(await scene.ctl("apply", "-f", file)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("does not fit: cpu: needs 2, free 1"),
      });
      expect(await apply([server("web", "v1", directory, { container: "cpus: 0.5" })])).toEqual(["task web unchanged"]);
    },
    LONGEST_MS,
  );

  test(
    "a task that is no longer in the file is shown, and removed with --prune only",
    async () => {
      const { directory, lines } = shared("prune");
      await scene.daemon();
      await apply([server("web", "web", directory), server("old", "old", directory)]);
      await until(() => lines().length === 2);
      expect(await apply([server("web", "web", directory)])).toEqual(["task web unchanged", "- task old is not in the file"]);
      expect(running().length).toBe(2);
      expect(await apply([server("web", "web", directory)], "--prune")).toEqual(["task web unchanged", "task old is being removed"]);
      await until(async () => (await tasks()).length === 1);
      expect([scene.list().length, lines().at(-1)]).toEqual([1, "- old"]);
    },
    LONGEST_MS,
  );

  test(
    "restart: a new incarnation of the containers that are named, and of no other",
    async () => {
      await scene.daemon();
      const container = (name: string) =>
        `  - { name: ${name}, rootfs: ${scene.rootfs()}, command: sleep, args: ["1000"], stopSignal: SIGKILL }\n`;
      await scene.ctl("apply", "-f", scene.file("two.yaml", `name: two\ncontainers:\n${container("a")}${container("b")}`));
      await until(() => running().length === 2);
      const before = new Map(running().map(({ id, pid }) => [id, pid]));
      expect((await scene.ctl("restart", "two", "-c", "b")).status).toBe(0);
      await until(
        async () =>
          (await get("two")).containers[1]!.generation === 2 && (await get("two")).known === "RUNNING" && scene.list().length === 2,
      );
      await until(() => running().length === 2);
      const after = running();
      expect(after.filter(({ id, pid }) => before.get(id) === pid).map(({ id }) => id.includes(".a-"))).toEqual([true]);
      expect(after.map(({ id }) => id.slice(id.lastIndexOf(".")))).toEqual([".1", ".2"]);
      expect(await scene.ctl("restart", "two", "-c", "nobody")).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("has no container nobody"),
      });
      expect((await get("two")).containers.map(({ restarts }) => restarts)).toEqual([0, 1]);
    },
    LONGEST_MS,
  );

  test(
    "a replacement that fails keeps the old spec, and rollback goes back to it",
    async () => {
      const { directory, lines } = shared("rollback");
      await scene.daemon();
      await apply([server("web", "v1", directory)]);
      await until(() => lines().length === 1);
      const broken: ScriptTask = {
        name: "web",
        script: "exit 7",
        task: "volumes: [{ name: v, host: /nonexistent }]",
        container: "mounts: [{ volume: v, target: /v }]",
      };
      await apply([broken]);
      await until(async () => (await get("web")).known === "STOPPED");
      // A second one that fails does not bury the good one.
      await apply([{ ...broken, script: "exit 8" }]);
      await until(async () => (await get("web")).id === "default.web.3" && (await get("web")).known === "STOPPED");
      expect((await scene.ctl("rollback", "web")).stdout).toBe("task web goes back to default.web.4\n");
      await until(() => lines().length === 3);
      expect(lines()).toEqual(["+ v1", "- v1", "+ v1"]);
      // Its program may print before the daemon has heard that it runs.
      await until(async () => (await tasks()).map(({ id, known }) => `${id} ${known}`).join() === "default.web.4 RUNNING");
    },
    LONGEST_MS,
  );

  test(
    "startFirst: the old task ends when the new one works, and stays when it does not",
    async () => {
      const { directory, lines } = shared("start-first");
      await scene.daemon();
      const startFirst = { task: "replace: startFirst" };
      await apply([server("web", "v1", directory, startFirst)]);
      await until(() => lines().length === 1);
      await apply([server("web", "v2", directory, startFirst)]);
      await until(() => lines().length === 3);
      expect(lines()).toEqual(["+ v1", "+ v2", "- v1"]);
      await until(async () => (await tasks()).length === 1);
      const works = running()[0]!;
      const bad = {
        name: "web",
        script: "true",
        task: "replace: startFirst\nvolumes: [{ name: v, host: /nonexistent }]",
        container: "mounts: [{ volume: v, target: /v }]",
      };
      await apply([bad]);
      await until(async () => (await get("web")).known === "STOPPED");
      expect(running()).toEqual([works]);
      expect((await scene.ctl("rollback", "web")).stdout).toBe("task web goes back to default.web.2\n");
      await until(async () => (await tasks()).length === 1);
      expect([running(), lines().length]).toEqual([[works], 3]);
    },
    LONGEST_MS,
  );

  test(
    "start runs what has stopped as it was, leaves what runs, and a rollback still goes to what ran before",
    async () => {
      const { directory, lines } = shared("start");
      await scene.daemon();
      await apply([server("web", "v1", directory)]);
      await until(() => lines().length === 1);
      await apply([server("web", "v2", directory)]);
      await until(() => lines().length === 3);
      await until(async () => (await get("web")).known === "RUNNING");
      const { id } = await get("web");
      expect(await scene.ctl("start", "web")).toEqual({ status: 0, stdout: "task web is being started\n", stderr: "" });
      expect((await get("web")).id).toBe(id);
      expect(await scene.ctl("start", "web", "nobody")).toMatchObject({ status: 1, stdout: "" });
      await scene.ctl("stop", "web");
      expect(running()).toEqual([]);
      await scene.ctl("start", "web");
      await until(() => lines().length === 5);
      expect(lines().at(-1)).toBe("+ v2");
      await until(async () => (await get("web")).known === "RUNNING");
      await scene.ctl("rollback", "web");
      await until(() => lines().at(-1) === "+ v1");
    },
    LONGEST_MS,
  );

  test(
    "stop leaves the task to be looked at, and apply starts it again",
    async () => {
      const { directory, lines } = shared("stop");
      await scene.daemon();
      await apply([server("web", "v1", directory)]);
      await until(() => lines().length === 1);
      expect(await scene.ctl("stop", "web")).toEqual({ status: 0, stdout: "task web stopped\n", stderr: "" });
      expect([lines(), running(), (await get("web")).reason]).toEqual([["+ v1", "- v1"], [], "the task was stopped"]);
      expect(await scene.ctl("restart", "web")).toMatchObject({ status: 1, stderr: expect.stringContaining("apply it again") });
      expect(await apply([server("web", "v1", directory)])).toEqual(["task web started"]);
      await until(() => running().length === 1);
      expect((await scene.ctl("delete", "web")).status).toBe(0);
      expect(await tasks()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "a one-shot that has succeeded is not run again: over its retention and a restart; --rerun forces it, delete forgets it",
    async () => {
      const { directory, lines } = shared("one-shot");
      const first = await scene.daemon();
      const shot: ScriptTask = { name: "migrate", script: "echo ran >> /shared/lines", shared: directory, task: "retention: 0s" };
      const after: ScriptTask = {
        ...server("app", "app", directory),
        container: "dependsOn: [{ container: migrate/main, condition: SUCCESS }]",
      };
      await apply([shot, after]);
      await until(async () => (await tasks()).map(({ name, known }) => `${name} ${known}`).join() === "app RUNNING");
      expect(await apply([shot, after])).toEqual(["task migrate has succeeded already", "task app unchanged"]);
      await first.kill();
      await scene.daemon();
      // What depends on it is not held up.
      await scene.ctl("delete", "app");
      expect(await apply([shot, after])).toEqual(["task migrate has succeeded already", "task app created"]);
      await until(() => running().length === 1);
      expect(lines().filter((line) => line === "ran")).toEqual(["ran"]);
      expect(await apply([shot, after], "--rerun")).toEqual(["task migrate created", "task app unchanged"]);
      await until(() => lines().filter((line) => line === "ran").length === 2);
      await until(async () => (await tasks()).length === 1);
      expect((await scene.ctl("delete", "migrate")).status).toBe(0);
      expect((await scene.ctl("delete", "migrate")).stderr).toContain("there is no task migrate");
      expect(await apply([shot, after])).toEqual(["task migrate created", "task app unchanged"]);
      await until(() => lines().filter((line) => line === "ran").length === 3);
      // Another text is another thing to do, and so is one that has failed.
      await until(async () => (await tasks()).length === 1);
      const failing = { ...shot, script: "echo bad >> /shared/lines; exit 1" };
      expect(await apply([failing, after])).toEqual(["task migrate created", "task app unchanged"]);
      await until(async () => lines().includes("bad") && (await tasks()).length === 1);
      expect(await apply([failing, after])).toEqual(["task migrate created", "task app unchanged"]);
    },
    LONGEST_MS,
  );

  test(
    "E91 E92 dependencies over tasks of a group: they start in order and end in the inverse order",
    async () => {
      const { directory, lines } = shared("over-group");
      await scene.daemon();
      const list = [
        server("app", "app", directory, { container: "dependsOn: [{ container: db/main }]" }),
        server("db", "db", directory, { container: "dependsOn: [{ container: disk/main }]" }),
        server("disk", "disk", directory),
      ];
      await apply(list);
      await until(() => lines().length === 3);
      expect(lines()).toEqual(["+ disk", "+ db", "+ app"]);
      await apply([server("other", "other", directory)], "--prune");
      await until(() => lines().length === 7);
      expect(lines().filter((line) => line.startsWith("-"))).toEqual(["- app", "- db", "- disk"]);
    },
    LONGEST_MS,
  );
});

/** Bytes, as the kernel has it for this process. */
function memoryLimit(pid: number): number {
  const line = readFileSync(`/proc/${pid}/cgroup`, "utf8")
    .split("\n")
    .find((one) => /^\d+:(?:.*,)?memory(?:,.*)?:/.test(one) || one.startsWith("0::"))!;
  const path = line.split(":").slice(2).join(":");
  const v1 = join("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
  return Number(readFileSync(existsSync(v1) ? v1 : join("/sys/fs/cgroup", path, "memory.max"), "utf8"));
}
