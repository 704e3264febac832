/** SIGKILL of the supervisor at random moments, and many executors at once. `make test-library-long` does more of both. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Executor, ExecutorError } from "../../src/executor/index.ts";
import { SLOW } from "../support/patience.ts";
import { CGROUP_PARENT, isRoot, REPOSITORY, sleep, textOf, useExecutors } from "./support.ts";

/** So many executors are adopted with their true end; supervisors that die before there is one are counted besides. */
const ADOPTIONS = Number(process.env["RUNT_TEST_ADOPTIONS"] ?? 6);
const MAX_KILLS = 4 * ADOPTIONS;
const ROUNDS = Number(process.env["RUNT_TEST_ROUNDS"] ?? 1);
const AT_ONCE = Number(process.env["RUNT_TEST_EXECUTORS"] ?? 24);
/** How many are launched, or shut down, in the same moment. */
const PARALLEL = 8;
const SECOND = 1_000 * SLOW;
/** How long the container of a killed supervisor runs at least: as long as a launch takes, so that as many die during its life as before it. */
const LIFE_MS = 150;

describe.skipIf(!isRoot)("executors that outlive things (needs root)", () => {
  const { rootfs, script, stateDir } = useExecutors();

  test(
    `supervisors killed at random moments until ${ADOPTIONS} executors are adopted with their true ends; the others were never there`,
    async () => {
      const outcomes: Record<string, number> = {};
      const adopted = () => Object.entries(outcomes).reduce((sum, [outcome, count]) => sum + (outcome.endsWith("true end") ? count : 0), 0);
      let launchMs = 0;
      for (let round = 0; adopted() < ADOPTIONS; round++) {
        expect(round).toBeLessThan(MAX_KILLS);
        const code = 1 + (round % 100);
        const id = `killed-${round}`;
        const lifeMs = Math.max(LIFE_MS, Math.round(launchMs));
        const supervisor = spawn(
          process.execPath,
          [join(REPOSITORY, "test/library/programs/supervise.mjs"), stateDir, id, rootfs(), CGROUP_PARENT, String(code), String(lifeMs)],
          { stdio: ["ignore", "pipe", "inherit"] },
        );
        const gone = new Promise((resolve) => supervisor.once("exit", resolve));
        const died = gone.then(() => Promise.reject(new Error("the supervisor died by itself")));
        died.catch(() => {});
        const said = () => Promise.race([new Promise((resolve) => supervisor.stdout.once("data", resolve)), died]);
        await said();
        const begun = performance.now();
        if (round === 0) {
          // The first one shows how long a launch takes here: the others die at any moment of it, or of the container's life.
          await said();
          launchMs = performance.now() - begun;
        } else await sleep(Math.random() * (launchMs + lifeMs));
        supervisor.kill("SIGKILL");
        await gone;
        const outcome = await adopt(id, code);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        expect(existsSync(join(stateDir, "@runtime", id))).toBe(false);
      }
      console.log(`adoptions: ${JSON.stringify(outcomes)}`);
      // What was being made when its maker died goes with the next one.
      const sweeper = new Executor({ stateDir, id: "sweeper" });
      await sweeper.launch(script("true"));
      await sweeper.wait();
      sweeper.remove();
      expect(readdirSync(stateDir)).toEqual(["@runtime"]);
      expect(readdirSync(join(stateDir, "@runtime"))).toEqual([]);
    },
    MAX_KILLS * 5 * SECOND + 30 * SECOND,
  );

  /** Adopt it as a supervisor that comes later does. Returns what was found. */
  async function adopt(id: string, code: number): Promise<string> {
    let executor: Executor;
    try {
      executor = await Executor.adopt({ stateDir, id });
    } catch (error) {
      if (error instanceof ExecutorError && error.code === "id-unknown") return "never launched";
      throw error;
    }
    if (executor.state === "failed") {
      expect(existsSync(join(stateDir, id))).toBe(false);
      return "launch undone";
    }
    const found = executor.state;
    expect(await executor.wait()).toMatchObject({ exitCode: code, signal: null, unknown: false });
    // Whoever was killed with a piece of it in hand has taken that along; nothing else is ever printed.
    expect(["", `out ${code}\n`]).toContain(await textOf(executor.stdout));
    executor.remove();
    return `${found}, then its true end`;
  }

  test(
    `${AT_ONCE} executors at once, ${PARALLEL} at a time, ${ROUNDS} rounds: every exit status is right, nothing is left`,
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const executors = Array.from({ length: AT_ONCE }, (_, index) => new Executor({ stateDir, id: `round-${round}-${index}` }));
        await inParallel(executors, async (executor, index) => {
          await executor.launch(
            script(`trap 'exit ${index % 100}' INT; echo ready; while :; do sleep 1 & wait $!; done`, { stdio: { stdout: "pipe" } }),
          );
          await new Promise((resolve) => executor.stdout?.once("data", resolve));
        });
        expect(executors.every(({ state }) => state === "running")).toBe(true);
        await inParallel(executors, async (executor, index) => {
          const isKilled = index % 10 === 9;
          const { endedBy, state } = await executor.shutdown({ graceMs: isKilled ? 0 : 20 * SECOND });
          expect([endedBy, state?.exitCode, state?.signal]).toEqual(isKilled ? ["kill", 137, 9] : ["signal", index % 100, null]);
          executor.remove();
        });
        expect(readdirSync(stateDir)).toEqual(["@runtime"]);
        expect(readdirSync(join(stateDir, "@runtime"))).toEqual([]);
      }
    },
    ROUNDS * 120 * SECOND,
  );
});

async function inParallel<T>(items: readonly T[], action: (item: T, index: number) => Promise<void>): Promise<void> {
  const entries = items.entries();
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (const [index, item] of entries) await action(item, index);
    }),
  );
}
