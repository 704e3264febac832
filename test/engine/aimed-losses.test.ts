/**
 * SIGKILL of the daemon at each point of each action, and then something that the task has below the state directory is lost, or something of somebody else has its place:
 * whatever the point and whatever it was, the next daemon starts, ends and removes the task, and touches nothing that is not the task's.
 */
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { TaskDetail, TaskView } from "../../src/engine/index.ts";
import type { Stage } from "../../src/engine/run/probe.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { DAY, POINTS, TIMES } from "./points.ts";
import { http, isRoot, LONGEST_MS, scriptTask, until, useEngine } from "./support.ts";

const NOBODY = 65_534;
/** Directories of the state directory in which a name is a task's or a container's. */
const PLACES = ["tasks", "volumes", "logs", "etc", "metadata", "end-messages", "executors", "executors/@runtime"];

/** What becomes of an entry; `victim` is a directory of somebody else. */
const WAYS: Readonly<Record<string, (path: string, victim: string) => void>> = {
  gone: () => {},
  "a file": (path) => writeFileSync(path, "\u0000[1]"),
  "an empty directory": (path) => mkdirSync(path),
  "a link": (path, victim) => symlinkSync(victim, path),
  "a link to a file": (path, victim) => symlinkSync(join(victim, "precious"), path),
  "a FIFO": (path) => void execFileSync("mkfifo", [path]),
  "a directory of another user": (path) => {
    mkdirSync(path);
    chownSync(path, NOBODY, NOBODY);
  },
};

describe.skipIf(!isRoot)("a daemon that is killed at a point, before something is lost (needs root)", () => {
  const scene = useEngine();
  let lost = 0;
  const kinds = new Set<string>();
  afterAll(() => console.log(`lost after a kill at a point: ${lost} times, ${kinds.size} kinds of entries and ways`));

  const left = (name: string) => {
    const path = join(scene.stateDir, name);
    return existsSync(path) ? readdirSync(path).filter((one) => !one.startsWith("@")) : [];
  };
  /** Of the answer; undefined: there is none, or no such task. */
  const seen = async <T>(path: string, of: (answer: T) => string): Promise<string | undefined> => {
    const answered = await http(scene.socket, "GET", path).catch(() => undefined);
    return answered?.status === 200 ? of(JSON.parse(answered.text) as T) : undefined;
  };
  const ask = (step: () => Promise<unknown>) => step().catch(() => {});

  const text = (pids: number) =>
    scriptTask(scene.rootfs(), {
      name: "web",
      script: "trap 'exit 0' TERM; sleep 1000 & wait",
      task: "volumes: [{ name: v }]",
      container: [
        `pids: ${pids}`,
        "healthCheck: { command: [/bin/true], interval: 50ms }",
        "preStop: { command: [/bin/true] }",
        "mounts: [{ volume: v, target: /v }]",
      ].join("\n    "),
    });

  /** The whole life of a task under a daemon that is killed at this point. */
  async function untilKilled(fault: string): Promise<void> {
    const first = await scene.daemon({ fault });
    let isDead = false;
    const ended = first.ended.then(() => {
      isDead = true;
    });
    const comes = (path: () => Promise<string | undefined>, wanted: string) => until(async () => isDead || (await path()) === wanted);
    const applied = await http(scene.socket, "POST", "/v1/apply", { text: text(100) }).catch(() => undefined);
    if (applied !== undefined) expect([applied.status, applied.text]).toEqual([200, expect.any(String)]);
    await comes(() => seen<TaskView>("/v1/tasks/web", ({ known }) => known), "RUNNING");
    await comes(() => seen<TaskDetail>("/v1/tasks/web/detail", (detail) => detail.containers[0]!.health!.status), "HEALTHY");
    await ask(() => http(scene.socket, "POST", "/v1/apply", { text: text(200) }));
    await ask(() => http(scene.socket, "DELETE", "/v1/tasks/web"));
    await ended;
  }

  /** What the task has on disk now: names in the places of the state directory, and what is in them. */
  const entries = () =>
    PLACES.flatMap((place) => left(place).map((name) => join(place, name))).flatMap((path) => {
      const whole = join(scene.stateDir, path);
      return [path, ...(lstatSync(whole).isDirectory() ? readdirSync(whole).map((name) => join(path, name)) : [])];
    });

  test.each(POINTS)(
    "%s of %s",
    async (stage: Stage, action: string) => {
      for (let time = 0; time < Math.max(1, TIMES); time++) {
        const victim = join(scene.directory, "victim");
        mkdirSync(join(victim, "below"), { recursive: true });
        writeFileSync(join(victim, "precious"), "precious");
        await untilKilled(`${stage} ${action} 1`);
        const found = entries();
        const at = POINTS.findIndex(([one, other]) => one === stage && other === action) * 5 + time * 3 + DAY;
        const entry = found[at % Math.max(1, found.length)];
        const way = Object.keys(WAYS)[at % Object.keys(WAYS).length]!;
        const what = `${stage} ${action}: ${entry} is ${way}`;
        if (entry !== undefined) {
          rmSync(join(scene.stateDir, entry), { recursive: true, force: true });
          WAYS[way]!(join(scene.stateDir, entry), victim);
          lost++;
          kinds.add(`${entry.replaceAll(/default\.web\.[^/]*/g, "ID")} ${way}`);
        }
        const daemon = await scene.daemon();
        await ask(() => http(scene.socket, "DELETE", "/v1/tasks/web"));
        await until(
          async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks.length === 0,
          undefined,
          () => `${what}\n${daemon.log()}`,
        );
        expect([what, JSON.parse((await http(scene.socket, "GET", "/v1/node")).text).conditions]).toEqual([what, []]);
        expect(daemon.log(), what).not.toMatch(/"uncaught|"defect|"event-failed/);
        await daemon.kill();
        expect([what, readdirSync(victim).sort(), readFileSync(join(victim, "precious"), "utf8")]).toEqual([
          what,
          ["below", "precious"],
          "precious",
        ]);
        expect([what, scene.list(), taskCgroups(), ...PLACES.map(left)]).toEqual([what, [], [], ...PLACES.map(() => [])]);
      }
    },
    LONGEST_MS * Math.max(1, TIMES),
  );
});
