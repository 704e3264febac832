/**
 * Whether the prose of pages and man pages can be read at first reading, as far as a program can tell: the rules are in tools/lint-prose/rules.ts.
 * Looks at the files git tracks, with their content in the working tree.
 *
 * Usage: tsx tools/lint-prose.ts [FILE...]
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { blocksOfManual, blocksOfMarkdown } from "./lint-prose/blocks.ts";
import { problemsOf } from "./lint-prose/rules.ts";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "man/*"];

/** One line for each fault of a page, as "FILE:LINE: what is wrong". */
export function faultsOf(file: string, text: string): string[] {
  const isPage = file.endsWith(".md");
  const blocks = isPage ? blocksOfMarkdown(text) : blocksOfManual(text);
  return problemsOf(blocks, isPage ? text : undefined).map(({ line, message }) => `${file}:${line}: ${message}`);
}

function trackedPages(): string[] {
  const names = execFileSync("git", ["ls-files", "-z", "--", ...PAGES], { cwd: REPOSITORY, encoding: "utf8" }).split("\0");
  return names.filter((name) => name !== "" && existsSync(join(REPOSITORY, name)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2);
  const files = named.length > 0 ? named : trackedPages();
  const problems = files.flatMap((file) => faultsOf(file, readFileSync(resolve(REPOSITORY, file), "utf8")));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
