import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { currentPage, ENGINE_PAGE, enginePage, titlesIn } from "./gen-engine-behaviour.ts";

const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));

test("the page has the rows and the titles of the tests as they are (make engine-behaviour)", () => {
  expect(readFileSync(join(REPOSITORY, ENGINE_PAGE), "utf8")).toBe(currentPage(REPOSITORY));
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
  const page = enginePage(tests, rows);
  expect(page).toContain("Of 3 numbers 2 have a test.");
  expect(page).toContain("| E1 | One. | a.test.ts: E1: a\\|b; T3: c &lt;d><br>b.test.ts: E1 T3 both |\n| E2 | Two. | no test yet |\n| T3 ");
  expect(() => enginePage([{ file: "a.test.ts", title: "E9 x" }], rows)).toThrow("a.test.ts: no row E9: E9 x");
});
