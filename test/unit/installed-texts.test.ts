/** Texts that are installed with the program cite nothing that is not: the pages below docs/ stay in the repository. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CHAPTERS } from "../../src/runtime/check/catalogue/index.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const PAGE = /\bdocs\/[\w/-]+\.md/;

test("findings", () => {
  const citing = CHAPTERS.flatMap(([, entries]) => Object.entries(entries))
    .filter(([, { title, section, why, fix }]) => [title, section, why, fix].some((text) => PAGE.test(text)))
    .map(([code]) => code);
  expect(citing).toEqual([]);
});

test("manual pages", () => {
  const pages = readdirSync(join(REPOSITORY, "man"));
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((page) => PAGE.test(readFileSync(join(REPOSITORY, "man", page), "utf8")))).toEqual([]);
});
