/** A kill and errors at fault points of every verb: a sample, drawn by RUNT_FAULTS_SEED (make test-faults: all of them). */
import { describe, expect, test } from "vitest";
import { isRoot } from "../support/harness.ts";
import { type Outcome, runTask } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

const SAMPLE = Number(process.env["RUNT_FAULTS_SAMPLE"] ?? 6);
const SEED = Number(process.env["RUNT_FAULTS_SEED"] ?? 1);
const PARTS = 2;
/** Scenarios of one test: few enough for the limit of the lane on a busy host, and enough that the starts of the workers are not the most of it. */
const SCENARIOS_AT_ONCE = 8;

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

  const quick = SCENARIOS.filter(({ slow }) => !slow).map(({ name }) => name);
  const sets = Array.from({ length: Math.ceil(quick.length / SCENARIOS_AT_ONCE) }, (_, index) =>
    quick.slice(index * SCENARIOS_AT_ONCE, (index + 1) * SCENARIOS_AT_ONCE),
  );

  test.each(sets.map((scenarios) => [scenarios.join(", "), scenarios] as const))(
    "at any point of %s leaves nothing that delete --force does not remove",
    async (_, scenarios) => {
      const outcomes = new Map<string, Outcome>();
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
  );
});
