import { expect, test } from "vitest";
import { pullDecision } from "./policy.ts";

type Outcome = "pulled" | "cache" | "usingCachedDigest" | "task stops" | "container stops";

/** The result of a decision if the source can be reached, and if it cannot. */
function outcomeOf(policy: Parameters<typeof pullDecision>[0], isCached: boolean, isSourceUp: boolean): readonly [Outcome, asked: boolean] {
  const { asksSource, fallsBack, failureStops } = pullDecision(policy, isCached);
  if (!asksSource) return [isCached ? "cache" : `${failureStops} stops`, false];
  if (isSourceUp) return ["pulled", true];
  return [fallsBack ? "usingCachedDigest" : `${failureStops} stops`, true];
}

test.each<[Parameters<typeof pullDecision>[0], boolean, boolean, Outcome, boolean]>([
  ["always", true, true, "pulled", true],
  ["always", true, false, "task stops", true],
  ["always", false, true, "pulled", true],
  ["always", false, false, "task stops", true],
  ["once", true, true, "cache", false],
  ["once", true, false, "cache", false],
  ["once", false, true, "pulled", true],
  ["once", false, false, "task stops", true],
  ["prefer-cached", true, true, "cache", false],
  ["prefer-cached", true, false, "cache", false],
  ["prefer-cached", false, true, "pulled", true],
  ["prefer-cached", false, false, "container stops", true],
  ["default", true, true, "pulled", true],
  ["default", true, false, "usingCachedDigest", true],
  ["default", false, true, "pulled", true],
  ["default", false, false, "container stops", true],
  ["never", true, true, "cache", false],
  ["never", false, true, "container stops", false],
])("E37 E38: %s, there before: %s, source up: %s: %s, source asked: %s", (policy, isCached, isSourceUp, outcome, asked) => {
  expect(outcomeOf(policy, isCached, isSourceUp)).toEqual([outcome, asked]);
});
