import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { currentPages, ENGINE_INDEX, enginePages, sayingOf, titlesIn } from "./gen-engine-behaviour.ts";

const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));

test("the pages have the rows and the titles of the tests as they are (make engine-behaviour)", () => {
  const pages = currentPages(REPOSITORY);
  for (const [path, text] of pages) expect(readFileSync(join(REPOSITORY, path), "utf8"), path).toBe(text);
  const there = readdirSync(join(REPOSITORY, "docs/engine/behaviour")).map((name) => `docs/engine/behaviour/${name}`);
  expect([ENGINE_INDEX, ...there].sort()).toEqual([...pages.keys()].sort());
});

test("titles are found wherever a test may have them, and nothing else is one", () => {
  const source = `
    test("A1 plain", () => {});
    it("A2 a \\"word\\"", () => {});
    test.skipIf(!isRoot)("A3 skipped", () => {});
    test.each([
      ["no title", 1],
    ])(
      "A4 %s",
      () => {},
    );
    test.each(Object.entries(STAGES))("A5", async () => { latest("no title"); describe("no title", () => {}); });
    expect(/x/.test("no title")).toBe(true);`;
  const found = titlesIn("a.test.ts", source).map(({ title }) => title);
  expect(found.filter((title) => title !== "no title")).toEqual(["A1 plain", 'A2 a "word"', "A3 skipped", "A4 %s", "A5"]);
});

test("a row says what the titles of its tests say of it, and names their files", () => {
  const tests = [
    { file: "test/engine/a.test.ts", title: "E1: a|b; T3: c <d>" },
    { file: "src/engine/b.test.ts", title: "E1 T3 both" },
    { file: "src/engine/b.test.ts", title: "E2, E1: only of functions" },
    { file: "src/engine/b.test.ts", title: "none, not even E2BIG" },
  ];
  const chapters = [
    { file: "one", title: "one", letter: "E", first: 1, last: 9 },
    { file: "two", title: "two", letter: "T", first: 3, last: 3 },
  ] as const;
  const pages = enginePages(tests, ["E1", "E2", "T3"], chapters);
  expect(pages.get(ENGINE_INDEX)).toContain(
    "| E1 to E2 | [one](behaviour/one.md) | 2 | 1 |\n| T3 to T3 | [two](behaviour/two.md) | 1 | 1 |",
  );
  expect(pages.get("docs/engine/behaviour/one.md")).toMatch(
    /\| E1 \| a\\\|b \| test\/engine\/a\.test\.ts<br>src\/engine\/b\.test\.ts \|\n\| E2 \| only of functions \| src\/engine\/b\.test\.ts \|\n$/,
  );
  expect(pages.get("docs/engine/behaviour/two.md")).toMatch(/\n\| T3 \| c &lt;d> \| .*\|\n$/);
});

test("a number without a row, and a row without a test, are errors", () => {
  expect(() => enginePages([{ file: "a.test.ts", title: "E96 x" }])).toThrow("a.test.ts: no row E96: E96 x");
  expect(() => enginePages([{ file: "a.test.ts", title: "E1 x" }])).toThrow("no test has the number E2");
});

test.each([
  ["T7", "T6: one; T7: two", "two"],
  ["E5", "E5 E19: nothing is lost (when %s)", "nothing is lost"],
  ["E92", "E91 E92: both", "both"],
  ["E4", "E4 SIGTERM: the daemon ends", "SIGTERM: the daemon ends"],
  ["E69", "%s: E69 the task stops", "%s: E69 the task stops"],
])("of %s %j says %j", (id, title, saying) => {
  expect(sayingOf(id, title)).toBe(saying);
});
