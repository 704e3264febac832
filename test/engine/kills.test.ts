/** SIGKILL of the daemon at each stage of a task's life: afterwards there is exactly what was asked for, and each thing once. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { http, identityOf, isRoot, until, useEngine, webTask } from "./support.ts";

describe.skipIf(!isRoot)("a daemon that is killed (needs root)", () => {
  const scene = useEngine();
  const known = async (): Promise<string> => {
    const { status, text } = await http(scene.socket, "GET", "/v1/tasks/web");
    return status === 404 ? "absent" : JSON.parse(text).known;
  };
  const isAnswered = (answer: Promise<{ readonly status: number }>) => answer.then(({ status }) => status < 300).catch(() => false);
  const apply = () => isAnswered(http(scene.socket, "POST", "/v1/apply", { text: webTask(scene.rootfs()) }));
  const remove = () => isAnswered(http(scene.socket, "DELETE", "/v1/tasks/web"));
  const names = () => scene.list().map(({ id, status }) => [/\.(\w+)-[0-9a-f]{8}\.\d+$/.exec(id)?.[1], status]);
  const processes = () =>
    scene.list().flatMap(({ id, pid, status }) => {
      try {
        return status === "running" ? `${id} ${identityOf(pid)}` : [];
      } catch {
        return []; // It has ended since the list was made.
      }
    });
  /** Executors on the disk, by the container's name. */
  const made = (name: string): string | undefined => {
    const directory = join(scene.stateDir, "executors");
    const found = existsSync(directory) ? readdirSync(directory).find((id) => id.includes(`.${name}-`)) : undefined;
    return found && join(directory, found);
  };

  type Stage = (answer: Promise<boolean>) => unknown;
  const STAGES: Readonly<Record<string, readonly [whileApplied: Stage, whileDeleted: Stage]>> = {
    "the request is sent": [() => {}, () => {}],
    "the request is answered": [(answer) => answer, (answer) => answer],
    "the first container is begun, and ended": [() => until(() => made("db") !== undefined), () => until(() => names().length < 2)],
    "the first container runs, and both are ended": [
      () => until(() => processes().length >= 1),
      () => until(() => processes().length === 0),
    ],
    "everything runs, and the first is removed": [
      () => until(async () => (await known()) === "RUNNING"),
      () => until(() => made("app") === undefined || made("db") === undefined),
    ],
  };

  test.each(Object.entries(STAGES))(
    "E5 E19: the next daemon carries out requests that were answered before a kill; an unanswered request is done as a whole or not at all (when %s)",
    async (_, [whileApplied, whileDeleted]) => {
      const first = await scene.daemon();
      const applied = apply();
      await whileApplied(applied);
      await first.kill();
      const before = processes();

      const second = await scene.daemon();
      const isThere = (await known()) !== "absent";
      // What was answered is never lost; what was not answered is there whole or not at all.
      if (await applied) expect(isThere).toBe(true);
      if (!isThere) {
        expect(scene.list()).toEqual([]);
        expect(await apply()).toBe(true);
      }
      await until(async () => (await known()) === "RUNNING");
      expect(names()).toEqual([
        ["app", "running"],
        ["db", "running"],
      ]);
      // Those that ran are the same processes.
      expect(processes()).toEqual(expect.arrayContaining(before));

      const deleted = remove();
      await whileDeleted(deleted);
      await second.kill();
      await scene.daemon();
      // A request that was not answered may have been lost, as a whole.
      if (!(await deleted) && (await known()) === "RUNNING") expect(await remove()).toBe(true);
      await until(async () => (await known()) === "absent");
      expect(scene.list()).toEqual([]);
      expect([made("app"), made("db")]).toEqual([undefined, undefined]);
    },
  );
});
