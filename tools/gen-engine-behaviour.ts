/**
 * Write docs/engine/behaviour.md and the pages below docs/engine/behaviour: what the task engine is to do by numbers (tools/engine-rows.ts), and the tests
 * whose titles have the number. It reads the sources of the tests; what they said when they ran last is not in it.
 *
 * Usage: tsx tools/gen-engine-behaviour.ts
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ENGINE_CHAPTERS, ENGINE_ROWS, type EngineChapter } from "./engine-rows.ts";
import { escaped } from "./gen-executor-behaviour.ts";

export const ENGINE_INDEX = "docs/engine/behaviour.md";
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

/**
 * Text of each page, by its path: the index first, then a page for each chapter.
 * @throws Error when a title has a number that no row has, or no chapter has a row
 */
export function enginePages(
  tests: readonly Titled[],
  rows: Readonly<Record<string, string>> = ENGINE_ROWS,
  chapters: readonly EngineChapter[] = ENGINE_CHAPTERS,
): ReadonlyMap<string, string> {
  const shown = new Map<string, Titled[]>(Object.keys(rows).map((id) => [id, []]));
  for (const test of tests) {
    for (const id of new Set(test.title.match(ID))) {
      const known = shown.get(id);
      if (known === undefined) throw new Error(`${test.file}: no row ${id}: ${test.title}`);
      known.push(test);
    }
  }
  const without = [...shown.keys()].find((id) => !chapters.some((chapter) => isIn(chapter, id)));
  if (without !== undefined) throw new Error(`no chapter has the row ${without}`);
  const parts = chapters.map((chapter) => ({ chapter, part: [...shown].filter(([id]) => isIn(chapter, id)) }));
  const pages = parts.map(({ chapter, part }): [string, string] => {
    const lines = part.map(([id, those]) => `| ${id} | ${rows[id]} | ${those.map(cell).join("<br>") || "no test yet"} |`);
    return [pathOf(chapter), `${heading(chapter)}\n${lines.join("\n")}\n`];
  });
  return new Map([[ENGINE_INDEX, index([...shown], parts)], ...pages]);
}

type Shown = readonly (readonly [id: string, tests: readonly Titled[]])[];

function index(all: Shown, parts: readonly { readonly chapter: EngineChapter; readonly part: Shown }[]): string {
  const lines = parts.map(({ chapter: { file, title }, part }) => {
    const range = `${part[0]?.[0] ?? ""} to ${part.at(-1)?.[0] ?? ""}`;
    return `| ${range} | [${title}](behaviour/${file}.md) | ${part.length} | ${covered(part)} |`;
  });
  return `# Behaviour of the task engine

What the engine is to do, and the tests whose titles have the number of it. Written by \`make engine-behaviour\` from tools/engine-rows.ts and the titles of
the tests. Of ${all.length} numbers ${covered(all)} have a test. The tests are not in the npm package.

| rows | page | numbers | with a test |
| --- | --- | ---: | ---: |
${lines.join("\n")}
`;
}

const covered = (part: Shown): number => part.filter(([, those]) => those.length > 0).length;

/** Numbers of a letter from the first to the last of the chapter, both included. */
function isIn({ letter, first, last }: EngineChapter, id: string): boolean {
  const number = Number(id.slice(1));
  return id.startsWith(letter) && number >= first && number <= last;
}

const pathOf = ({ file }: EngineChapter) => `docs/engine/behaviour/${file}.md`;

function cell({ file, title }: Titled): string {
  return `${file}: ${escaped(title).replaceAll("<", "&lt;")}`;
}

const heading = ({ title }: EngineChapter) => `# Behaviour of the task engine: ${title}

Written by \`make engine-behaviour\`; [all pages](../behaviour.md).

| row | behaviour | tests |
| --- | --- | --- |`;

/** @param directory of the repository */
export function currentPages(directory: string): ReadonlyMap<string, string> {
  const below = (folder: string) => readdirSync(join(directory, folder), { recursive: true, encoding: "utf8" }).sort();
  const files = FOLDERS.flatMap((folder) => below(folder).map((name) => `${folder}/${name}`)).filter((path) => path.endsWith(".test.ts"));
  return enginePages(files.flatMap((file) => titlesIn(file, readFileSync(join(directory, file), "utf8"))));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [path, text] of currentPages(process.cwd())) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
