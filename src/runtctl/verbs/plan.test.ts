import { expect, test } from "vitest";
import { plain } from "../output/style.ts";
import { linesOf } from "./plan.ts";

test("a field that does not fit on a line of the terminal shows both values below each other", () => {
  const fields = [{ pointer: "/containers/0/args", before: ["a".repeat(40)], after: ["b".repeat(40)] }];
  const difference = { name: "web", change: "replaced" as const, fields };
  expect(linesOf(difference, plain)).toHaveLength(2);
  expect(linesOf(difference, plain, 80)).toEqual([
    "~ task web would be replaced",
    "  ~ /containers/0/args:",
    `    - ["${"a".repeat(40)}"]`,
    `    + ["${"b".repeat(40)}"]`,
  ]);
  expect(linesOf({ ...difference, fields: [{ pointer: "/a", before: 1, after: 2 }] }, plain, 80)[1]).toBe("  ~ /a: 1 -> 2");
});
