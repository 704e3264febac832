import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { currentPages, ENGINE_INDEX, enginePages, titlesIn } from "./gen-engine-behaviour.ts";

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

test("a row has all tests that name it, one that nobody names says so, and a number without a row is an error", () => {
  const rows = { E1: "One.", E2: "Two.", T3: "Three." };
  const tests = [
    { file: "a.test.ts", title: "E1: a|b; T3: c <d>" },
    { file: "b.test.ts", title: "E1 T3 both" },
    { file: "b.test.ts", title: "none, not even E2BIG" },
  ];
  const chapters = [
    { file: "one", title: "one", letter: "E", first: 1, last: 9 },
    { file: "two", title: "two", letter: "T", first: 3, last: 3 },
  ] as const;
  const pages = enginePages(tests, rows, chapters);
  expect(pages.get(ENGINE_INDEX)).toContain("Of 3 numbers 2 have a test.");
  expect(pages.get(ENGINE_INDEX)).toContain(
    "| E1 to E2 | [one](behaviour/one.md) | 2 | 1 |\n| T3 to T3 | [two](behaviour/two.md) | 1 | 1 |",
  );
  expect(pages.get("docs/engine/behaviour/one.md")).toMatch(
    /\| E1 \| One\. \| a\.test\.ts: E1: a\\\|b; T3: c &lt;d><br>b\.test\.ts: E1 T3 both \|\n\| E2 \| Two\. \| no test yet \|\n$/,
  );
  expect(pages.get("docs/engine/behaviour/two.md")).toMatch(/\n\| T3 \| Three\. \| .*\|\n$/);
  expect(() => enginePages([{ file: "a.test.ts", title: "E9 x" }], rows, chapters)).toThrow("a.test.ts: no row E9: E9 x");
  expect(() => enginePages([], { ...rows, T4: "Four." }, chapters)).toThrow("no chapter has the row T4");
});
