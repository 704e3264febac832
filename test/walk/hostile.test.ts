/**
 * A hostile host, at random: RUNT_HOSTILE_SECONDS (10) or RUNT_HOSTILE_STEPS of verbs from RUNT_HOSTILE_SEED (1), among them runtimes that are stopped or
 * killed half-way, containers and hooks that answer nothing, cgroups and ids that come back, processes of others in every cgroup around. Nobody
 * who is not the container's may be touched, and every verb has to return. What goes wrong is shown with the shortest way to it.
 */
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, SLOW, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { SCRIPTS } from "./hostile/scripts.ts";
import { randomSteps, type Step, shrink, stepText } from "./hostile/steps.ts";
import { walkHost } from "./hostile/walk.ts";

const SECONDS = Number(process.env["RUNT_HOSTILE_SECONDS"] ?? 10);
const STEPS = Number(process.env["RUNT_HOSTILE_STEPS"] ?? Number.POSITIVE_INFINITY);
const SEED = Number(process.env["RUNT_HOSTILE_SEED"] ?? 1);
const SHRINK_MS = Number(process.env["RUNT_HOSTILE_SHRINK_SECONDS"] ?? 30) * 1000;
/** Steps that are shown of a long way. */
const STORY = 16;

/** What went wrong, whoever it was: a shorter way has to lead to the same. */
function kindOf(wrong: string | undefined): string | undefined {
  return wrong && /not returned|nobody meant|has seen|ended with|says|still are|is now|not answer|changed|is left/.exec(wrong)?.[0];
}

describe.skipIf(!isRoot || !isRunt)("a hostile host (needs root)", () => {
  const harness = useHarness({ peers: true });
  let count = 0;
  const walk = (steps: Iterable<Step>, more?: (done: number) => boolean) =>
    walkHost({ directory: harness.directory, rootfs: harness.rootfs(), name: `x${++count}` }, steps, more);

  test.each(Object.entries(SCRIPTS))("%s", async (_name, steps) => {
    const { done, wrong } = await walk(steps);
    expect(wrong, done.slice(-STORY).map(stepText).join("; ")).toBeUndefined();
  });

  const timeout = (SECONDS * 4_000 + 2 * SHRINK_MS) * SLOW + PATIENCE_MS;
  test("whoever is not the container's is left alone, and every verb returns", { timeout }, async () => {
    const end = Date.now() + SECONDS * 1000;
    const { done, summary, wrong } = await walk(randomSteps(SEED), (steps) => Date.now() < end && steps < STEPS);
    console.log(`seed ${SEED}: ${done.length} steps; ${summary}`);
    if (wrong === undefined) return;
    const giveUp = Date.now() + SHRINK_MS;
    const shortest = await shrink(done, async (steps) => Date.now() < giveUp && kindOf((await walk(steps)).wrong) === kindOf(wrong));
    const text = (steps: readonly Step[]) => steps.map(stepText).join("; ");
    expect.fail(`seed ${SEED}, step ${done.length}: ${wrong}; after: ${text(shortest)}; the last ones were: ${text(done.slice(-STORY))}`);
  });
});
