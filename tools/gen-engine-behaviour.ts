/**
 * Write docs/engine/behaviour.md and the pages below docs/engine/behaviour: what the task engine does, by numbers (tools/engine-rows.ts), in the words of the
 * titles of the tests that have the number. So no page can promise what no test asks. It reads the sources of the tests; what they said when they ran last is
 * not in it.
 *
 * Usage: tsx tools/gen-engine-behaviour.ts
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ENGINE_CHAPTERS, ENGINE_ROWS, type EngineChapter } from "./engine-rows.ts";
import { escaped } from "./gen-executor-behaviour.ts";

export const ENGINE_INDEX = "docs/engine/behaviour.md";
/** Tests against the kernel, whose titles are shown. The titles of the others are shown for a row that has none of these. */
const BEHAVIOUR = "test/engine/";
const FOLDERS = ["test/engine", "test/unit/engine", "src/engine", "src/pod"];

export interface Titled {
  readonly file: string;
  readonly title: string;
}

/** Of `test("title"`, `it("title"`, `test.skipIf(x)("title"` and `test.each(table)("title"`. */
const TITLE = /(?:\b(?:test|it)(?:\.\w+(?:\([^()]*\))?)?|[\])]\))\(\s*("(?:[^"\\\n]|\\.)*")/g;
const ID = /\b[EPRT]\d{1,2}\b/g;
/** The numbers at the beginning of a title, or of a part of it: "E91 E92: ". */
const NUMBERS = /^(?:[EPRT]\d{1,2}\b[ ,]*)+:? */;
/** Which case of a table it is, at the end of a title: " (%s)". */
const CASE = / \([^()]*%[a-z][^()]*\)$/;
/** What vitest fills in elsewhere: the page would show it as it stands. */
const PLACEHOLDER = /%[sdijfoO]/;

export function titlesIn(file: string, source: string): Titled[] {
  return [...source.matchAll(TITLE)].map(([, literal = ""]) => ({ file, title: JSON.parse(literal) as string }));
}

/**
 * Text of each page, by its path: the index first, then a page for each chapter.
 * @throws Error when a title has a number that no row has, or a row has no test
 */
export function enginePages(
  tests: readonly Titled[],
  rows: readonly string[] = ENGINE_ROWS,
  chapters: readonly EngineChapter[] = ENGINE_CHAPTERS,
): ReadonlyMap<string, string> {
  const shown = new Map<string, Titled[]>(rows.map((id) => [id, []]));
  for (const test of tests) {
    for (const id of new Set(test.title.match(ID))) {
      const known = shown.get(id);
      if (known === undefined) throw new Error(`${test.file}: no row ${id}: ${test.title}`);
      known.push(test);
    }
  }
  const untested = [...shown].find(([, those]) => those.length === 0);
  if (untested !== undefined) throw new Error(`no test has the number ${untested[0]}`);
  const parts = chapters.map((chapter) => ({ chapter, part: [...shown].filter(([id]) => isIn(chapter, id)) }));
  const pages = parts.map(({ chapter, part }): [string, string] => {
    const lines = part.map(([id, those]) => `| ${id} | ${sayingsOf(id, those)} | ${filesOf(those)} |`);
    return [pathOf(chapter), `${heading(chapter)}\n${lines.join("\n")}\n`];
  });
  return new Map([[ENGINE_INDEX, index(shown.size, parts)], ...pages]);
}

/** What a title says of a number: of "T6: one; T7: two" for T7 "two". */
export function sayingOf(id: string, title: string): string {
  const parts = title.split(/; (?=[EPRT]\d{1,2}\b)/);
  const numbersOf = (part: string): readonly string[] => NUMBERS.exec(part)?.[0].match(ID) ?? [];
  const own = parts.find((part) => numbersOf(part).includes(id)) ?? title;
  return own.replace(NUMBERS, "").replace(CASE, "");
}

function sayingsOf(id: string, tests: readonly Titled[]): string {
  const real = tests.filter(({ file }) => file.startsWith(BEHAVIOUR));
  const sayings = (real.length > 0 ? real : tests).map(({ title }) => sayingOf(id, title));
  const unfinished = sayings.find((saying) => PLACEHOLDER.test(saying));
  if (unfinished !== undefined) throw new Error(`${id}: the case of a test stands in brackets at the end of its title: ${unfinished}`);
  return [...new Set(sayings)].map((saying) => escaped(saying).replaceAll("<", "&lt;")).join("<br>");
}

const filesOf = (tests: readonly Titled[]): string => [...new Set(tests.map(({ file }) => file))].join("<br>");

type Shown = readonly (readonly [id: string, tests: readonly Titled[]])[];

function index(count: number, parts: readonly { readonly chapter: EngineChapter; readonly part: Shown }[]): string {
  const lines = parts.map(({ chapter: { file, title }, part }) => {
    const range = `${part[0]?.[0] ?? ""} to ${part.at(-1)?.[0] ?? ""}`;
    return `| ${range} | [${title}](behaviour/${file}.md) | ${part.length} | ${inKernel(part)} |`;
  });
  return `# Behaviour of the task engine

This page lists the behaviour of the engine; each line is the title of a test. Written by \`make engine-behaviour\`. Each
of the ${count} numbers has tests. The last column counts the numbers with a test against the kernel. The npm package
does not contain the tests.

| rows | page | numbers | against the kernel |
| --- | --- | ---: | ---: |
${lines.join("\n")}
`;
}

const inKernel = (part: Shown): number => part.filter(([, those]) => those.some(({ file }) => file.startsWith(BEHAVIOUR))).length;

/** Numbers of a letter from the first to the last of the chapter, both included. */
function isIn({ letter, first, last }: EngineChapter, id: string): boolean {
  const number = Number(id.slice(1));
  return id.startsWith(letter) && number >= first && number <= last;
}

const pathOf = ({ file }: EngineChapter) => `docs/engine/behaviour/${file}.md`;

const heading = ({ title }: EngineChapter) => `# Behaviour of the task engine: ${title}

Written by \`make engine-behaviour\`; [all pages](../behaviour.md).

| row | behaviour | tested in |
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
