/** SIGKILL of the daemon half-way through a change of a group: the next one brings it to its end, each thing once, and nothing of the old is left. */
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import { http, isRoot, LONGEST_MS, type ScriptTask, type Shared, scriptTask, sharedIn, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("a change of a group, half done (needs root)", () => {
  const scene = useEngine();
  const tasks = async (): Promise<TaskView[]> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;
  const post = async (path: string, body?: unknown) => expect((await http(scene.socket, "POST", path, body)).status).toBeLessThan(300);
  const apply = (list: readonly ScriptTask[], rest: object = {}) =>
    post("/v1/apply", { text: list.map((task) => scriptTask(scene.rootfs(), task)).join(""), ...rest });
  const server = (word: string, { directory }: Shared, name = "web", task = ""): ScriptTask => ({
    name,
    script: `echo + ${word} >> /shared/lines; trap 'sleep 0.3; echo - ${word} >> /shared/lines; exit 0' TERM; sleep 1000 & wait`,
    shared: directory,
    task,
  });
  const running = () => scene.list().filter(({ status }) => status === "running").length;

  interface Change {
    /** From the group with `web` (v1) and `old`. */
    begin(shared: Shared): Promise<void>;
    /** Ids of the tasks that are there at the end, and what the containers have said, without the first beginnings. */
    readonly tasks: readonly string[];
    readonly lines: readonly string[];
  }
  const CHANGES: Readonly<Record<string, Change>> = {
    replace: {
      begin: (shared) => apply([server("v2", shared), server("old", shared, "old")]),
      tasks: ["default.old.2", "default.web.3"],
      lines: ["- v1", "+ v2"],
    },
    "replace with startFirst": {
      begin: (shared) => apply([server("v2", shared, "web", "replace: startFirst"), server("old", shared, "old")]),
      tasks: ["default.old.2", "default.web.3"],
      lines: ["+ v2", "- v1"],
    },
    prune: { begin: (shared) => apply([server("v1", shared)], { prune: true }), tasks: ["default.web.1"], lines: ["- old"] },
    restart: { begin: () => post("/v1/tasks/web/restart", {}), tasks: ["default.old.2", "default.web.1"], lines: ["- v1", "+ v1"] },
    stop: { begin: () => post("/v1/tasks/web/stop"), tasks: ["default.old.2", "default.web.1"], lines: ["- v1"] },
  };
  const STAGES: Readonly<Record<string, (change: Change, said: () => number) => unknown>> = {
    "the change is recorded": () => {},
    "its first half has happened": (_, said) => until(() => said() > 2),
    "all of it has happened, and is not known yet": ({ lines }, said) => until(() => said() === 2 + lines.length),
  };
  const cases = Object.keys(CHANGES).flatMap((change) => Object.keys(STAGES).map((stage) => [change, stage] as const));

  test.each(cases)(
    "%s, killed when %s",
    async (name, stage) => {
      const change = CHANGES[name]!;
      const shared = sharedIn(scene, "half");
      const first = await scene.daemon();
      await apply([server("v1", shared), server("old", shared, "old")]);
      await until(async () => shared.lines().length === 2 && (await tasks()).every(({ known }) => known === "RUNNING"));
      await change.begin(shared);
      await STAGES[stage]!(change, () => shared.lines().length);
      await first.kill();

      await scene.daemon();
      const isStopped = name === "stop";
      await until(async () => (await tasks()).map(({ id }) => id).join() === change.tasks.join());
      await until(async () => (await tasks()).every((one) => one.known === (isStopped && one.name === "web" ? "STOPPED" : "RUNNING")));
      await until(() => shared.lines().length === 2 + change.lines.length);
      expect(shared.lines().slice(2)).toEqual(change.lines);
      expect(running()).toBe(change.tasks.length - (isStopped ? 1 : 0));
    },
    LONGEST_MS,
  );
});
