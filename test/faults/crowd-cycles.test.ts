/** The short form of `make test-cycles`: kills of the runtime at random moments, and delete --force. */
import { expect, test } from "vitest";
import { isRoot, isRunt, RUNTIME } from "../support/harness.ts";
import { isClean, runCycles, summary } from "./cycles.ts";

const CYCLES = 60;

test.skipIf(!isRoot || !isRunt)(`${CYCLES} cycles leave nothing (needs root)`, async () => {
  const report = await runCycles({ cycles: CYCLES, workers: 2, runtime: RUNTIME, seed: 1 });
  expect(isClean(report), summary(report)).toBe(true);
  expect(report.results.length).toBe(CYCLES);
  // Many kills came while the verb was at work, also where others have the processors and the moment is missed.
  expect(report.results.filter(({ hit }) => hit).length, summary(report)).toBeGreaterThan(CYCLES / 10);
});
