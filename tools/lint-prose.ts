/**
 * Whether the prose of pages and man pages can be read at first reading, as far as a program can tell: the rules are in tools/lint-prose/rules.ts.
 * Looks at the files git tracks, with their content in the working tree.
 *
 * Usage: tsx tools/lint-prose.ts [FILE...]. Named files are looked at even if they are in the list of unedited pages.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { blocksOfManual, blocksOfMarkdown } from "./lint-prose/blocks.ts";
import { problemsOf } from "./lint-prose/rules.ts";
import { UNEDITED } from "./lint-prose/unedited.ts";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "man/*"];

/** One line for each fault of a page, as "FILE:LINE: what is wrong". */
export function faultsOf(file: string, text: string): string[] {
  const isPage = file.endsWith(".md");
  const blocks = isPage ? blocksOfMarkdown(text) : blocksOfManual(text);
  return problemsOf(blocks, isPage ? text : undefined).map(({ line, message }) => `${file}:${line}: ${message}`);
}

/** What `make lint` reports. The list of unedited pages may only shrink: a page in it that has no fault has to leave it. */
export function report(pages: ReadonlyMap<string, string>, unedited: readonly string[]): string[] {
  const missing = unedited.filter((file) => !pages.has(file)).map((file) => `${file}: in the list of unedited pages, but not tracked`);
  const faults = [...pages].flatMap(([file, text]) => {
    const found = faultsOf(file, text);
    if (!unedited.includes(file)) return found;
    return found.length === 0
      ? [`${file}: has no fault any more; take it from the list of unedited pages (tools/lint-prose/unedited.ts)`]
      : [];
  });
  return [...missing, ...faults];
}

function trackedPages(): Map<string, string> {
  const names = execFileSync("git", ["ls-files", "-z", "--", ...PAGES], { cwd: REPOSITORY, encoding: "utf8" }).split("\0");
  const present = names.filter((name) => name !== "" && existsSync(join(REPOSITORY, name)));
  return new Map(present.map((name) => [name, readFileSync(join(REPOSITORY, name), "utf8")]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2);
  const problems =
    named.length > 0 ? named.flatMap((file) => faultsOf(file, readFileSync(file, "utf8"))) : report(trackedPages(), UNEDITED);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
