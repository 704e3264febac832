import { expect, test } from "vitest";
import { cut, firstIssue } from "./index.ts";

test("a long text is cut, and says so", () => {
  expect(cut("short")).toBe("short");
  expect(cut("x".repeat(1000))).toHaveLength(1000);
  expect(cut("x".repeat(5_000_000))).toBe(`${"x".repeat(1000)}... (cut after 1000 of 5000000 characters)`);
});

test("of many problems the first is told, however long its place is", () => {
  expect(
    firstIssue({
      issues: [
        { path: ["a", 0], message: "is wrong" },
        { path: [], message: "never shown" },
      ],
    }),
  ).toBe("a.0: is wrong");
  expect(firstIssue({ issues: [{ path: [], message: "is wrong" }] })).toBe("is wrong");
  expect(firstIssue({ issues: [{ path: ["k".repeat(1_000_000)], message: "is wrong" }] }).length).toBeLessThan(1100);
});
