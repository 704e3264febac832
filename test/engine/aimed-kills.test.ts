/**
 * SIGKILL of the daemon at each point of each action (laws 1 and 3): before and after it is stored, when it is done, and before its result is stored. Whatever the point, the
 * task goes through its life as it would have, each thing is done once, and nothing is left.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { TaskDetail, TaskView } from "../../src/engine/index.ts";
import type { Stage } from "../../src/engine/run/probe.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { DAMAGES } from "./damage.ts";
import { cgroupFile } from "./kernel-files.ts";
import { DAY, POINTS, TIMES } from "./points.ts";
import { type Daemon, http, isRoot, LONGEST_MS, type Shared, scriptTask, sharedIn, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("a daemon that is killed at a point (needs root)", () => {
  const scene = useEngine();

  /** `pids` is what is different in the changed task: it is changed in place. */
  const text = ({ directory }: Shared, pids: number) =>
    scriptTask(scene.rootfs(), {
      name: "web",
      script: "echo + >> /shared/lines; trap 'echo - >> /shared/lines; exit 0' TERM; sleep 1000 & wait",
      shared: directory,
      task: "volumes: [{ name: v }]",
      container: [
        `pids: ${pids}`,
        "healthCheck: { command: [/bin/true], interval: 50ms }",
        `preStop: { command: [/bin/sh, -c, "echo p >> /shared/lines"] }`,
      ].join("\n    "),
    });

  class Life {
    /** So many of its daemons were killed. */
    kills = 0;
    #daemon: Daemon;
    #hasEnded = false;
    readonly #shared: Shared;

    constructor(daemon: Daemon, shared: Shared) {
      this.#shared = shared;
      this.#daemon = daemon;
      this.#watch();
    }

    async through(): Promise<void> {
      await this.#step(async () => this.#apply(100));
      await this.#step(() => until(async () => (await this.#task())?.known === "RUNNING"));
      await this.#step(() => until(async () => (await this.#health()) === "HEALTHY"));
      await this.#step(async () => this.#apply(200));
      await this.#step(() => until(async () => (await this.#task()) !== undefined && this.#limit() === "200"));
      await this.#step(async () => {
        if ((await this.#task()) !== undefined) expect((await http(scene.socket, "DELETE", "/v1/tasks/web")).status).toBeLessThan(500);
      });
      await this.#step(() => until(async () => (await this.#task()) === undefined));
      // The last commit may be the one that the point is in.
      await this.#step(() => until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks.length === 0));
      await this.#daemon.kill();
    }

    /** Again, with another daemon, when the one that was asked is gone. A step may be repeated. */
    async #step(step: () => Promise<void>): Promise<void> {
      for (;;) {
        try {
          await step();
          return;
        } catch (error) {
          if (!this.#hasEnded) await until(() => this.#hasEnded, 1_000).catch(() => {});
          if (!this.#hasEnded) throw error;
          this.kills++;
          this.#daemon = await scene.daemon();
          this.#watch();
        }
      }
    }

    #watch(): void {
      this.#hasEnded = false;
      const daemon = this.#daemon;
      void daemon.ended.then(() => {
        if (this.#daemon === daemon) this.#hasEnded = true;
      });
    }

    async #apply(pids: number): Promise<void> {
      const { status, text: answer } = await http(scene.socket, "POST", "/v1/apply", { text: text(this.#shared, pids) });
      expect([status, answer]).toEqual([200, expect.any(String)]);
    }

    async #task(): Promise<TaskView | undefined> {
      const { status, text: answer } = await http(scene.socket, "GET", "/v1/tasks/web");
      return status === 404 ? undefined : JSON.parse(answer);
    }

    async #health(): Promise<string> {
      const { text: answer } = await http(scene.socket, "GET", "/v1/tasks/web/detail");
      return JSON.parse(answer).containers[0].health.status;
    }

    #limit(): string {
      const { pid = 0 } = scene.list()[0] ?? {};
      try {
        return cgroupFile(pid, "pids", "pids.max");
      } catch {
        return "";
      }
    }
  }

  const counts = new Map<string, number>();
  /** So often records were lost after a kill. */
  let lost = 0;
  afterAll(() => {
    const all = [...counts.values()];
    console.log(
      `killed at a point: ${all.length} points, ${all.reduce((a, b) => a + b, 0)} times, the least often hit ${Math.min(...all)} times; ${lost} times with lost records`,
    );
  });

  const left = (name: string) => {
    const path = join(scene.stateDir, name);
    return existsSync(path) ? readdirSync(path).filter((one) => !one.startsWith("@")) : [];
  };

  test.each(POINTS)(
    "%s of %s",
    async (stage: Stage, action: string) => {
      for (let time = 0; time < Math.max(1, TIMES); time++) {
        const shared = sharedIn(scene, "aimed");
        const life = new Life(await scene.daemon({ fault: `${stage} ${action} 1` }), shared);
        await life.through();
        expect(life.kills).toBe(1);
        counts.set(`${stage} ${action}`, time + 1);
        // What runs before a stop is run once at most; all else exactly once.
        const lines = shared.lines().filter((line) => line !== "p");
        const told = shared.lines().length - lines.length;
        expect(lines).toEqual(["+", "-"]);
        expect(told).toBeLessThanOrEqual(1);
        if (action !== "preStop") expect(told).toBe(1);
        expect([scene.list(), taskCgroups(), left("executors"), left("tasks"), left("logs"), left("volumes")]).toEqual(Array(6).fill([]));
      }
    },
    LONGEST_MS * Math.max(1, TIMES),
  );

  /** What is lost of the one container between a kill and the next daemon; another way for each point, and for each time. */
  const LOSSES: readonly ((id: string) => void)[] = [
    (id) => [own(id), runtimes(id)].forEach(DAMAGES["gone"]!),
    (id) => DAMAGES["gone"]!(own(id)),
    (id) => DAMAGES["gone"]!(runtimes(id)),
    ...Object.values(DAMAGES).flatMap((damage) => [
      (id: string) => damage(join(own(id), "record.json")),
      (id: string) => damage(join(own(id), "executor.json")),
      (id: string) => damage(join(runtimes(id), "state.json")),
    ]),
  ];
  const own = (id: string) => join(scene.stateDir, "executors", id);
  const runtimes = (id: string) => join(scene.stateDir, "executors/@runtime", id);

  test.each(TIMES === 0 ? POINTS.filter((_, index) => index % POINTS.length === DAY % POINTS.length) : POINTS)(
    "%s of %s, and records of the container are lost before the next daemon",
    async (stage: Stage, action: string) => {
      for (let time = 0; time < Math.max(1, TIMES); time++) {
        const shared = sharedIn(scene, "lost");
        const first = await scene.daemon({ fault: `${stage} ${action} 1` });
        const ended = new Promise<void>((resolve) => void first.ended.then(() => resolve()));
        let isDead = false;
        void ended.then(() => {
          isDead = true;
        });
        const ask = (step: () => Promise<unknown>) => step().catch(() => {});
        await ask(() => http(scene.socket, "POST", "/v1/apply", { text: text(shared, 100) }));
        await until(async () => isDead || (await seen<TaskView>("/v1/tasks/web", ({ known }) => known)) === "RUNNING");
        await until(
          async () =>
            isDead || (await seen<TaskDetail>("/v1/tasks/web/detail", (detail) => detail.containers[0]!.health!.status)) === "HEALTHY",
        );
        await ask(() => http(scene.socket, "POST", "/v1/apply", { text: text(shared, 200) }));
        await ask(() => http(scene.socket, "DELETE", "/v1/tasks/web"));
        await ended;
        const [id] = left("executors");
        const at = POINTS.findIndex(([one, other]) => one === stage && other === action) + time;
        try {
          if (id !== undefined) LOSSES[at % LOSSES.length]!(id);
        } catch (error) {
          // It was not written yet, or is removed already.
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
        }
        const daemon = await scene.daemon();
        // It may never have been recorded, or be gone already.
        await ask(() => http(scene.socket, "DELETE", "/v1/tasks/web"));
        await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks.length === 0);
        expect(JSON.parse((await http(scene.socket, "GET", "/v1/node")).text).conditions).toEqual([]);
        expect(daemon.log()).not.toMatch(/"uncaught|"defect|"event-failed/);
        await daemon.kill();
        lost++;
        expect([
          scene.list(),
          taskCgroups(),
          left("executors"),
          left("executors/@runtime"),
          left("tasks"),
          left("logs"),
          left("volumes"),
        ]).toEqual(Array(7).fill([]));
      }
    },
    LONGEST_MS * Math.max(1, TIMES),
  );

  /** Of the answer; undefined: there is none, or no such task. */
  const seen = async <T>(path: string, of: (answer: T) => string): Promise<string | undefined> => {
    const answered = await http(scene.socket, "GET", path).catch(() => undefined);
    return answered?.status === 200 ? of(JSON.parse(answered.text) as T) : undefined;
  };
});
