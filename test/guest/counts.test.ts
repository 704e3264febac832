import { describe, expect, test } from "vitest";
import { countLane } from "./counts.ts";

const vitest = (changes: object = {}) =>
  JSON.stringify({ numPassedTests: 5, numFailedTests: 0, numPendingTests: 2, numTodoTests: 1, testResults: [], ...changes });

describe("counts of a lane", () => {
  test("vitest's report", () => {
    expect(countLane(vitest(), 0)).toEqual({ passed: 5, failed: 0, skipped: 3 });
  });

  test("a file that does not load is a failure, beside those of tests", () => {
    const testResults = [
      { status: "failed", assertionResults: [] },
      { status: "failed", assertionResults: [{}] },
    ];
    expect(countLane(vitest({ numFailedTests: 1, testResults }), 1)).toEqual({ passed: 5, failed: 2, skipped: 3 });
  });

  test("items by runtime", () => {
    const report = { runt: { A: { result: "passed" }, B: { result: "failed" }, C: { result: "skipped" }, D: { result: "untested" } } };
    expect(countLane(JSON.stringify(report), 1)).toEqual({ passed: 1, failed: 1, skipped: 2 });
  });

  test.each([
    ["no report", undefined, 0],
    ["half a report", '{"numPassedTests": 5', 0],
    ["no object", "null", 0],
    ["nothing about runt", '{"crun":{"A":{"result":"passed"}}}', 0],
  ])("%s is one failure", (_, report, status) => {
    expect(countLane(report, status)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  test("a bad status is a failure though no test has failed", () => {
    expect(countLane(vitest(), 137)).toEqual({ passed: 5, failed: 1, skipped: 3 });
    expect(countLane(vitest(), undefined)).toEqual({ passed: 5, failed: 1, skipped: 3 });
  });
});
