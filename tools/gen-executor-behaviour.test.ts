import { expect, test } from "vitest";
import { ROWS, rowsPage, shownByRow } from "./gen-executor-behaviour.ts";

const result = (title: string, status = "passed") => ({ title, status });
const report = (titles: readonly ReturnType<typeof result>[]) => ({
  testResults: [{ name: "/repo/test/library/a.test.ts", assertionResults: titles }],
});

test("a title may name several rows, and parts of one", () => {
  const rows = shownByRow(report([result("X1, X2: both"), result("X2 b: part", "failed"), result("no row: x")]), "/repo");
  expect([...rows.keys()]).toEqual(["X1", "X2"]);
  expect(rows.get("X2")).toEqual([
    { behaviour: "both", file: "test/library/a.test.ts", result: "passed" },
    { behaviour: "part", file: "test/library/a.test.ts", result: "failed" },
  ]);
});

test("every row has to have a test", () => {
  expect(() => rowsPage(report([result("X1: one")]), "/repo")).toThrow(/no test for X2, X3/);
  expect(rowsPage(report(ROWS.map((id) => result(`${id}: a|b`))), "/repo")).toContain("| X36 | a\\|b | a.test.ts | passed |");
});
