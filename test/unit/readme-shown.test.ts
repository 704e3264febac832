import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commandsOf } from "../readme/commands.ts";
import { missingLines } from "../readme/shown.ts";

/** The plan that docs/shell.md shows, of a hybrid host. */
const shown = commandsOf(readFileSync("docs/shell.md", "utf8")).find(({ text }) => text.startsWith("bin/runt plan"))?.shown ?? [];
const HYBRID = { isV1: true, isHybrid: true };
const ANOTHER = "/sys/fs/cgroup/hugetlb/runt-demo/hello";

test("the plan of a host with one more hierarchy is the one that docs/shell.md shows", () => {
  expect(shown.some((line) => /\d+ hierarchies/.test(line))).toBe(true);
  const there = shown.flatMap((line) =>
    line.includes("devices/runt-demo") ? [line, `         9 cgroup.create            ${ANOTHER}            /linux/cgroupsPath`] : [line],
  );
  const output = there.join("\n").replace(/(\d+) hierarchies/, (_, count) => `${Number(count) + 1} hierarchies`);
  expect(missingLines(shown, output, HYBRID)).toEqual([]);
});

test("a line that does not come is missing", () => {
  const output = shown.filter((line) => !line.includes("root.pivot")).join("\n");
  expect(missingLines(shown, output, HYBRID)).toEqual([expect.stringContaining("root.pivot")]);
});
