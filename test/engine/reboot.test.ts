/**
 * The host has booted anew (law 4). A boot is simulated: every process of the tasks is killed, its cgroups and the sockets are removed, and the next daemon reads
 * another boot id.
 */
import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import { cutPower as cutPowerOf, executorRecords as recordsOf } from "./power.ts";
import { http, isRoot, LONGEST_MS, type ScriptTask, scriptTask, sharedIn, until, useEngine } from "./support.ts";

const ANOTHER_BOOT = "11111111-2222-4333-8444-555555555555";
const A_THIRD_BOOT = "22222222-2222-4333-8444-555555555555";

describe.skipIf(!isRoot)("another boot of the host (needs root)", () => {
  const scene = useEngine();
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = async (...tasks: readonly ScriptTask[]) => {
    const text = tasks.map((task) => scriptTask(scene.rootfs(), task)).join("");
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
  };
  const records = () => recordsOf(scene);
  const cutPower = () => cutPowerOf(scene);
  const server = (name: string, directory: string, task: string): ScriptTask => ({
    name,
    script: `echo + ${name} >> /shared/lines; trap 'exit 3' TERM; sleep 1000 & wait`,
    shared: directory,
    task,
  });

  test(
    "tasks that start always start again, once; the others have ended with the host, without an exit code; what has succeeded stays so",
    async () => {
      const { directory, lines } = sharedIn(scene, "cut");
      const first = await scene.daemon();
      await apply(server("keep", directory, "start: always"), server("once", directory, ""), {
        name: "shot",
        script: "echo + shot >> /shared/lines",
        shared: directory,
        task: "start: always",
      });
      await until(() => lines().length === 3);
      await until(async () => (await get("shot")).known === "STOPPED" && (await get("once")).known === "RUNNING");
      await first.kill();
      await cutPower();

      const second = await scene.daemon({ bootId: ANOTHER_BOOT });
      await until(() => lines().length === 4);
      await until(async () => (await get("keep")).known === "RUNNING");
      expect(await get("keep")).toMatchObject({ generation: 2, reason: null, containers: [{ generation: 2, exit: null }] });
      expect(await get("once")).toMatchObject({ generation: 1, known: "STOPPED", reason: "the host has booted anew" });
      expect((await get("once")).containers[0]).toMatchObject({ exit: null, reason: "container main ended with the host" });
      expect(await get("shot")).toMatchObject({ generation: 1, known: "STOPPED", containers: [{ exit: { code: 0, unknown: false } }] });
      expect(lines()).toEqual(expect.arrayContaining(["+ keep", "+ once", "+ shot", "+ keep"]));
      expect(JSON.parse((await http(scene.socket, "GET", "/v1/node")).text)).toMatchObject({ bootId: ANOTHER_BOOT, conditions: [] });
      // Only the new incarnation is there; that of the old boot is forgotten without a look at processes that have its numbers now.
      await until(() => records().filter(({ id }) => id.includes(".keep.")).length === 1);
      // In the same boot nothing begins again.
      await second.kill();
      await scene.daemon({ bootId: ANOTHER_BOOT });
      expect(lines().length).toBe(4);
      for (const name of ["keep", "once", "shot"]) expect((await scene.ctl("delete", name)).status).toBe(0);
      expect(records()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "files of containers that the power cut has left empty keep nobody from being deleted, and nothing is left",
    async () => {
      const { directory, lines } = sharedIn(scene, "empty");
      const first = await scene.daemon();
      const names = ["executor", "record", "both"];
      await apply(...names.map((name) => server(name, directory, name === "both" ? "start: always" : "")));
      await until(async () => lines().length === 3 && (await Promise.all(names.map(get))).every(({ known }) => known === "RUNNING"));
      await first.kill();
      await cutPower();
      // As ext4 has a file that was renamed, or made, and not synced.
      const executors = join(scene.stateDir, "executors");
      for (const id of readdirSync(executors)) {
        const [, name] = id.split(".");
        for (const file of ["executor", "record"]) if (name === file || name === "both") truncateSync(join(executors, id, `${file}.json`));
      }

      await scene.daemon({ bootId: ANOTHER_BOOT });
      await until(async () => (await get("both")).known === "RUNNING" && (await get("executor")).known === "STOPPED");
      expect(lines().filter((line) => line === "+ both")).toHaveLength(2);
      // The incarnation of the old boot, too.
      await until(() => readdirSync(executors).filter((id) => id.includes(".both.")).length === 1);
      for (const name of names) expect([name, (await scene.ctl("delete", name)).status]).toEqual([name, 0]);
      expect(readdirSync(executors).filter((id) => !id.startsWith("@"))).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "an end that was recorded while the host went down in order is told as it was, and the task starts again",
    async () => {
      const { directory, lines } = sharedIn(scene, "orderly");
      const first = await scene.daemon();
      await apply(server("keep", directory, "start: always"), server("once", directory, ""));
      await until(async () => lines().length === 2 && (await get("keep")).known === "RUNNING" && (await get("once")).known === "RUNNING");
      await first.kill();
      // The init of the host ends everything, and the monitors are still there to see it.
      for (const { pid } of records()) process.kill(pid, "SIGTERM");
      await until(() => records().every(({ phase }) => phase === "exited"));
      await cutPower();

      await scene.daemon({ bootId: A_THIRD_BOOT });
      await until(() => lines().length === 3);
      expect((await get("once")).containers[0]).toMatchObject({
        exit: { code: 3, unknown: false },
        reason: "container main exited with 3",
      });
      await until(async () => (await get("keep")).known === "RUNNING");
      expect((await get("keep")).generation).toBe(2);
      for (const name of ["keep", "once"]) expect((await scene.ctl("delete", name)).status).toBe(0);
    },
    LONGEST_MS,
  );
});
