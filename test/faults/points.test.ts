/** A kill and errors at fault points of every verb: a sample, drawn by RUNT_FAULTS_SEED (make test-faults: all of them). */
import { describe, expect, test } from "vitest";
import { isRoot } from "../support/harness.ts";
import { type Outcome, runTask } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

const SAMPLE = Number(process.env["RUNT_FAULTS_SAMPLE"] ?? 6);
const SEED = Number(process.env["RUNT_FAULTS_SEED"] ?? 1);
const PARTS = 2;
/** Half a minute where nothing else runs, ten times that on a busy host. */
const TIMEOUT_MS = 3_600_000;

const TASK = { part: 0, parts: 1, sample: SAMPLE, seed: SEED, only: "" };

describe.skipIf(!isRoot)("a fault (needs root)", () => {
  test("whose container is not deleted is seen to leave it", async () => {
    const outcomes = new Map<string, Outcome>();
    const only = "kill in runtime before exit";
    const cgroups = `runt-faults-${process.pid}-left`;
    await runTask({ ...TASK, scenarios: ["run-detached"], sample: 0, only, forget: true, cgroups }, outcomes);
    const { tried, problems } = outcomes.get("run-detached")!;
    expect(tried).toBe(1);
    for (const what of ["process", "cgroup", "file /tmp/world/root/faulty"]) {
      expect(problems.filter((line) => line.includes(`left behind: + ${what}`))).not.toEqual([]);
    }
  });

  test(
    "at any point of any verb leaves nothing that delete --force does not remove",
    async () => {
      const outcomes = new Map<string, Outcome>();
      const scenarios = SCENARIOS.filter(({ slow }) => !slow).map(({ name }) => name);
      await Promise.all(
        Array.from({ length: PARTS }, (_, part) =>
          runTask({ ...TASK, scenarios, part, parts: PARTS, cgroups: `runt-faults-${process.pid}-${part}` }, outcomes),
        ),
      );
      const all = [...outcomes.values()];
      expect(all.flatMap(({ problems }) => problems)).toEqual([]);
      expect(outcomes.size).toBe(scenarios.length);
      // Where others have the processors, how far a helper comes that is dropped differs, and with it which points there are.
      const sum = (key: "tried" | "missed") => all.reduce((total, outcome) => total + outcome[key], 0);
      expect(sum("missed")).toBeLessThan(sum("tried") / 2);
    },
    TIMEOUT_MS,
  );
});
