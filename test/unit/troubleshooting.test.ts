/** docs/troubleshooting.md has every code of the catalogue, and quotes only what runt really says. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CATALOGUE, WORDS } from "../../src/runtime/errors/catalogue.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const PAGE = readFileSync(join(REPOSITORY, "docs/troubleshooting.md"), "utf8");
/** Quotes shorter than this between two `…` prove nothing. */
const LEAST = 6;

interface Row {
  readonly text: string;
  readonly cells: readonly string[];
}

/** Heading -> rows of its table. */
const SECTIONS = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = "", ...lines] = section.split("\n");
      const rows = lines
        .filter((line) => line.startsWith("| ") && !/^\| (text|what is seen|---)/.test(line))
        .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()))
        .map((cells): Row => ({ text: /^`(.*)`$/.exec(cells[0]!)?.[1] ?? "", cells }));
      return [heading, rows] as const;
    }),
);
const codes = Object.keys(CATALOGUE);

/** Everything runt can say: its sources, without the backslashes and the pieces that are filled in. */
const SOURCES = readdirSync(join(REPOSITORY, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(REPOSITORY, "src", file), "utf8"))
  .join("\n")
  .replaceAll("\\", "");

describe("docs/troubleshooting.md", () => {
  it.each(codes)("has an entry for %s, with text, cause and fix", (code) => {
    const rows = SECTIONS.get(`\`${code}\``) ?? [];
    expect(rows.length).toBeGreaterThan(0);
    for (const { text, cells } of rows) {
      expect(text, cells.join(" ")).not.toBe("");
      expect(cells).toHaveLength(3);
    }
  });

  it("has one entry a code, in the order of the catalogue, and no other", () => {
    const headings = [...PAGE.matchAll(/^## `(.*)`$/gm)].map(([, code]) => code);
    expect(headings).toEqual(codes);
  });

  it.each(codes)("quotes for %s what the sources say", (code) => {
    const pieces = (SECTIONS.get(`\`${code}\``) ?? [])
      .flatMap(({ text }) => text.split(/…|config\.json:LINE:COLUMN: |"/))
      .map((piece) => piece.trim())
      .filter((piece) => piece.length >= LEAST);
    expect(pieces.filter((piece) => !SOURCES.includes(piece))).toEqual([]);
  });

  it("has every word that engines match on", () => {
    expect(Object.values(WORDS).filter((words) => !PAGE.includes(words))).toEqual([]);
  });
});
