import { expect, test } from "vitest";
import { withSection } from "./page.ts";

test("a section is added at the end, and replaced where it is", () => {
  const once = withSection("# Page\n\nBy hand.\n", "crun", "| a |");
  expect(once.startsWith("# Page\n\nBy hand.\n\n<!-- bench crun:")).toBe(true);
  const both = withSection(`${once}\n## After\n`, "runc", "| b |");
  const again = withSection(both, "crun", "| c |");
  expect(again).toContain("| c |");
  expect(again).not.toContain("| a |");
  expect(again).toContain("| b |");
  expect(again).toContain("By hand.");
  expect(again).toContain("\n## After\n");
  expect(withSection(again, "crun", "| c |")).toBe(again);
});

test("a section without an end is an error: what is written by hand would be lost", () => {
  expect(() => withSection("<!-- bench crun: written by make bench -->\n\nText.\n", "crun", "x")).toThrow("does not end");
});
