/**
 * Write docs/engine/behaviour.md: what the task engine is to do by numbers (tools/engine-rows.ts), and the tests whose titles have the number. It reads
 * the sources of the tests; what they said when they ran last is not in it.
 *
 * Usage: tsx tools/gen-engine-behaviour.ts
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ENGINE_ROWS } from "./engine-rows.ts";
import { escaped } from "./gen-executor-behaviour.ts";

export const ENGINE_PAGE = "docs/engine/behaviour.md";
const FOLDERS = ["test/engine", "test/unit/engine", "src/engine", "src/pod"];

export interface Titled {
  readonly file: string;
  readonly title: string;
}

/** Of `test("title"`, `it("title"`, `test.skipIf(x)("title"` and `test.each(table)("title"`. */
const TITLE = /(?:\b(?:test|it)(?:\.\w+(?:\([^()]*\))?)?|[\])]\))\(\s*("(?:[^"\\\n]|\\.)*")/g;
const ID = /\b[EPT]\d{1,2}\b/g;

export function titlesIn(file: string, source: string): Titled[] {
  return [...source.matchAll(TITLE)].map(([, literal = ""]) => ({ file, title: JSON.parse(literal) as string }));
}

/** @throws Error when a title has a number that no row has */
export function enginePage(tests: readonly Titled[], rows: Readonly<Record<string, string>> = ENGINE_ROWS): string {
  const shown = new Map<string, Titled[]>(Object.keys(rows).map((id) => [id, []]));
  for (const test of tests) {
    for (const id of new Set(test.title.match(ID))) {
      const known = shown.get(id);
      if (known === undefined) throw new Error(`${test.file}: no row ${id}: ${test.title}`);
      known.push(test);
    }
  }
  const lines = [...shown].map(([id, those]) => `| ${id} | ${rows[id]} | ${those.map(cell).join("<br>") || "no test yet"} |`);
  const covered = [...shown.values()].filter((those) => those.length > 0).length;
  return `${heading(covered, shown.size)}\n${lines.join("\n")}\n`;
}

function cell({ file, title }: Titled): string {
  return `${file}: ${escaped(title).replaceAll("<", "&lt;")}`;
}

const heading = (covered: number, all: number) => `# Behaviour of the task engine

What the engine is to do, and the tests whose titles have the number of it. Written by \`make engine-behaviour\` from tools/engine-rows.ts and the titles of
the tests. Of ${all} numbers ${covered} have a test. The tests are not in the npm package.

| row | behaviour | tests |
| --- | --- | --- |`;

/** @param directory of the repository */
export function currentPage(directory: string): string {
  const below = (folder: string) => readdirSync(join(directory, folder), { recursive: true, encoding: "utf8" }).sort();
  const files = FOLDERS.flatMap((folder) => below(folder).map((name) => `${folder}/${name}`)).filter((path) => path.endsWith(".test.ts"));
  return enginePage(files.flatMap((file) => titlesIn(file, readFileSync(join(directory, file), "utf8"))));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync(ENGINE_PAGE, currentPage(process.cwd()));
