/**
 * The state machine of a container, at random: RUNT_WALK_SECONDS (10) of verbs from RUNT_WALK_SEED (1), four fifths of them one after the other
 * over 50 containers, the rest two at once. A mismatch is shown with its seed and the shortest sequence that leads to it.
 */
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, SLOW, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { type Container, NONE, outcomes, shownStatus } from "./model.ts";
import { tryPairs } from "./pairs.ts";
import { realSubject, type Subject } from "./subject.ts";
import { randomSteps, shrink, stepText, walk } from "./walk.ts";

const SECONDS = Number(process.env["RUNT_WALK_SECONDS"] ?? 10);
const SEED = Number(process.env["RUNT_WALK_SEED"] ?? 1);
const SHRINK_MS = 30_000;

function until(milliseconds: number): () => boolean {
  const end = Date.now() + milliseconds;
  return () => Date.now() < end;
}

describe.skipIf(!isRoot || !isRunt)("a random walk (needs root)", () => {
  const harness = useHarness();
  let count = 0;

  test("one verb after the other", { timeout: (SECONDS * 3_000 + 2 * SHRINK_MS) * SLOW + PATIENCE_MS }, async () => {
    const subject = realSubject(harness, `w${++count}`);
    try {
      const { done, mismatch } = await walk(subject, randomSteps(SEED), until(SECONDS * 800));
      console.log(`seed ${SEED}: ${done} steps`);
      if (!mismatch) return;
      await subject.clear();
      const again = until(SHRINK_MS);
      const steps = await shrink(mismatch.steps, async (shorter) => {
        if (!again()) return false;
        const fresh = realSubject(harness, `w${++count}`);
        try {
          return (await walk(fresh, shorter)).mismatch !== undefined;
        } finally {
          await fresh.clear();
        }
      });
      throw new Error(`seed ${SEED}: expected ${mismatch.expected}, got ${mismatch.got}, after: ${steps.map(stepText).join("; ")}`);
    } finally {
      await subject.clear();
    }
  });

  test("two at once", { timeout: SECONDS * 3_000 * SLOW + 2 * PATIENCE_MS }, async () => {
    const subject = realSubject(harness, "pairs");
    try {
      const { done, mismatch } = await tryPairs(subject, SEED, until(SECONDS * 200));
      console.log(`seed ${SEED}: ${done} pairs`);
      expect(mismatch).toBeUndefined();
    } finally {
      await subject.clear();
    }
  });
});

describe("the walk itself", () => {
  /** A runtime that is the model, but for a defect: what was killed while it was paused stays paused. */
  function faulty(): Subject {
    const containers = new Map<string, Container>();
    const status = (id: string) => shownStatus(containers.get(id) ?? NONE);
    return {
      async perform(id, action) {
        const before = containers.get(id) ?? NONE;
        const [{ answers, container } = { answers: [], container: NONE }] = outcomes(before, [action]);
        containers.set(id, action.verb === "kill KILL" && before.paused ? before : { ...container, deaf: false });
        return answers[0]!;
      },
      list: async () =>
        [...containers.keys()]
          .filter((id) => status(id) !== "none")
          .map((id) => `${id} ${status(id)}`)
          .sort(),
      garbage: async () => 0,
      until: async (id) => status(id),
      clear: async () => containers.clear(),
    };
  }

  test("finds a defect, and the shortest way to it", async () => {
    const { mismatch } = await walk(faulty(), randomSteps(1));
    expect(mismatch).toMatchObject({ expected: "then stopped", got: "then paused" });
    const steps = await shrink(mismatch!.steps, async (shorter) => (await walk(faulty(), shorter)).mismatch !== undefined);
    const id = mismatch!.steps.at(-1)!.id!;
    expect(steps.map(stepText)).toEqual([expect.stringMatching(`^(create|run --detach) ${id}$`), `pause ${id}`, `kill KILL ${id}`]);
  });

  test("is the same for the same seed", () => {
    const first = (seed: number) => {
      const steps = randomSteps(seed);
      return Array.from({ length: 50 }, () => stepText(steps.next().value));
    };
    expect(first(5)).toEqual(first(5));
    expect(first(5)).not.toEqual(first(6));
  });

  test("knows that both orders of two verbs are allowed, and nothing else", () => {
    const created = outcomes(NONE, [{ verb: "create" }])[0]!.container;
    const both = outcomes(created, [{ verb: "start" }, { verb: "delete" }]);
    const texts = both.map(({ answers, container }) => [...answers.map(({ exit, code }) => code ?? exit), container.status].join(" "));
    expect(texts.sort()).toEqual(["0 wrong-status running", "id-unknown 0 none", "state-unreadable 0 none"]);
  });
});
