/**
 * Whether what pages and comments name is there: files and folders of this repository, pages and headings that are linked, targets of make.
 * Looks at the files git tracks, with their content in the working tree.
 *
 * Usage: tsx tools/lint-docs.ts
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** Path -> text. */
export type Texts = ReadonlyMap<string, string>;

const FOLDERS = "src|native-bindings|test|tools|bench|docs|bundles|packaging|man";
const PATH = new RegExp(`(?<![\\w./$<>~@:-])(?:${FOLDERS})/[\\w./*{},@-]+`, "g");
const LINK = /\]\(([^)\s]+)\)/g;
const MAKE = /`make ([a-z][\w-]*)(?![\w/-])/g;
const TARGETS = /^([A-Za-z][\w. -]*):(?!=)/gm;

const SOURCES = /\.(?:ts|mjs|cjs|c|h|S|ld|mk|sh)$|(?:^|\/)Makefile$/;
const COMMENT = /^\s*(?:\/\*|\*|\/\/|#(?!include|define|if)).*$|\/\*\*? .*$|\/\/ .*$/;

/** One line for each name of something that is not there. */
export function problemsOf(texts: Texts): string[] {
  const places = placesOf([...texts.keys()]);
  const targets = targetsOf(texts);
  return [...texts].flatMap(([file, text]) => {
    const isPage = file.endsWith(".md");
    if (!isPage && !SOURCES.test(file)) return [];
    const anchors = isPage ? deadLinks(file, text, texts, places) : [];
    const lines = text.split("\n").flatMap((line, index) => {
      const read = isPage ? line : COMMENT.exec(line)?.[0];
      const found = read === undefined ? [] : [...deadPaths(read, places), ...(isPage ? deadTargets(read, targets) : [])];
      return found.map((name) => `${file}:${index + 1}: ${name}: it is not there`);
    });
    return [...anchors, ...lines];
  });
}

function placesOf(files: readonly string[]): Set<string> {
  const places = new Set(files);
  for (const file of files) for (let at = posix.dirname(file); at !== "."; at = posix.dirname(at)) places.add(at);
  return places;
}

function deadPaths(line: string, places: ReadonlySet<string>): string[] {
  const named = [...line.matchAll(PATH)].map(([path]) => path.replace(/[.,]+$/, "").replace(/\/$/, ""));
  return named.filter((path) => !alternatives(path).every((one) => matches(one, places)));
}

/** `a/{b,c}.ts` are two. */
function alternatives(path: string): string[] {
  const braces = /^(.*?)\{([^{}]*)\}(.*)$/.exec(path);
  if (!braces) return [path];
  const [, before, list = "", after] = braces;
  return list.split(",").flatMap((one) => alternatives(`${before}${one}${after}`));
}

/** `*` and words like NAME stand for anything. */
function matches(named: string, places: ReadonlySet<string>): boolean {
  const path = named.replace(/\b[A-Z]{2,}\b/g, (word) => (places.has(named) ? word : "*"));
  if (!path.includes("*")) return places.has(path);
  const pattern = new RegExp(`^${path.split(/\*+/).map(escaped).join(".*")}$`);
  return [...places].some((place) => pattern.test(place));
}

const escaped = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

function deadLinks(file: string, text: string, texts: Texts, places: ReadonlySet<string>): string[] {
  return [...text.matchAll(LINK)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", anchor] = target.split("#");
    const page = path === "" ? file : posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, "");
    if (!places.has(page)) return [`${file}: ${target}: there is no such page`];
    if (anchor === undefined || !page.endsWith(".md") || headings(texts.get(page) ?? "").includes(anchor)) return [];
    return [`${file}: ${target}: the page has no such heading`];
  });
}

/** As GitHub names them. */
function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function targetsOf(texts: Texts): Set<string> {
  const files = [...texts].filter(([file]) => file === "Makefile" || file.endsWith(".mk"));
  return new Set(files.flatMap(([, text]) => [...text.matchAll(TARGETS)].flatMap(([, names = ""]) => names.split(" "))));
}

function deadTargets(line: string, targets: ReadonlySet<string>): string[] {
  return [...line.matchAll(MAKE)]
    .map(([, name = ""]) => name)
    .filter((name) => !/[A-Z]/.test(name) && !targets.has(name))
    .map((name) => `make ${name}`);
}

function trackedTexts(repository: string): Texts {
  const names = execFileSync("git", ["ls-files", "-z"], { cwd: repository, encoding: "utf8" }).split("\0").filter(Boolean);
  const present = names.filter((name) => existsSync(join(repository, name)));
  const isRead = (name: string) => name.endsWith(".md") || SOURCES.test(name);
  return new Map(present.map((name) => [name, isRead(name) ? readFileSync(join(repository, name), "utf8") : ""]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = problemsOf(trackedTexts(fileURLToPath(new URL("..", import.meta.url))));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
