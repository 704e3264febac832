import { expect, test } from "vitest";
import { anchorOf, pageOf, siteAddress } from "./links.ts";

const PAGES: ReadonlySet<string> = new Set([
  "README.md",
  "LICENSE.md",
  "docs/engine.md",
  "docs/decisions/index.md",
  "docs/library/README.md",
  "docs/library/adopt.mjs.md",
  "man/index.md",
  "man/runt.8.md",
]);

test.each([
  ["docs/engine.md", "docs/engine.md"],
  ["man/runt.8", "man/runt.8.md"],
  ["man", "man/index.md"],
  ["docs/decisions", "docs/decisions/index.md"],
  ["docs/library/adopt.mjs", "docs/library/adopt.mjs.md"],
  ["LICENSE", "LICENSE.md"],
])("%s has the page %s", (path, page) => {
  expect(pageOf(path)).toBe(page);
});

test.each([
  ["README.md", "docs/engine.md#ports", "./docs/engine.md#ports"],
  ["README.md", "docs/decisions/", "./docs/decisions/index.md"],
  ["README.md", "LICENSE", "./LICENSE.md"],
  ["docs/engine.md", "../man/runt.8", "../man/runt.8.md"],
  ["docs/engine.md", "../man", "../man/index.md"],
  ["docs/library/README.md", "adopt.mjs", "./adopt.mjs.md"],
  ["docs/engine.md", "#ports", "#ports"],
  ["docs/engine.md", "https://example.org/a", "https://example.org/a"],
])("in %s the link %s becomes %s", (from, address, expected) => {
  expect(siteAddress(from, address, PAGES)).toBe(expected);
});

test("a link to a file that the site does not have is an error with both names", () => {
  expect(() => siteAddress("docs/engine.md", "../src/engine/index.ts", PAGES)).toThrow(
    "docs/engine.md: ../src/engine/index.ts is not a page of the site",
  );
});

test("anchors are those of GitHub", () => {
  expect(anchorOf("What runt refuses, that runc or crun takes")).toBe("what-runt-refuses-that-runc-or-crun-takes");
  expect(anchorOf("`create` and `--dry-run`")).toBe("create-and---dry-run");
});
