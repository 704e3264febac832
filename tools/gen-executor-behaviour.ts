/**
 * Write docs/executor-behaviour.md: what the executor does by numbers, the test that shows it, and what that test said when it ran last (its title
 * begins with the number). Fails when a number has no test.
 *
 * Usage: tsx tools/gen-executor-behaviour.ts [REPORT of vitest, default build/test/library.json]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";

export const ROWS = Array.from({ length: 47 }, (_, index) => `X${index + 1}`);

export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

interface Shown {
  readonly behaviour: string;
  readonly file: string;
  readonly result: string;
}

/** "X14, X15: ..." and "X16 a: ..." -> what each row shows. */
export function shownByRow(report: Report, directory: string): ReadonlyMap<string, readonly Shown[]> {
  const rows = new Map<string, Shown[]>();
  for (const { name, assertionResults } of report.testResults) {
    for (const { title, status } of assertionResults) {
      const [, ids, behaviour] = /^((?:X\d+(?: [a-z])?(?:, )?)+): (.*)$/.exec(title) ?? [];
      for (const id of ids?.match(/X\d+/g) ?? []) {
        const shown = { behaviour: behaviour!, file: relative(directory, name), result: status };
        rows.set(id, [...(rows.get(id) ?? []), shown]);
      }
    }
  }
  return rows;
}

/** @throws Error when a row has no test */
export function rowsPage(report: Report, directory: string): string {
  const rows = shownByRow(report, directory);
  const missing = ROWS.filter((id) => !rows.has(id));
  if (missing.length > 0) throw new Error(`no test for ${missing.join(", ")}`);
  const lines = ROWS.flatMap((id) =>
    rows.get(id)!.map(({ behaviour, file, result }) => `| ${id} | ${escaped(behaviour)} | ${file.replace(/^.*\//, "")} | ${result} |`),
  );
  return `${HEADING}\n${lines.join("\n")}\n`;
}

const HEADING = `# Behaviour of the executor

This page lists the behaviour of the executor library, and the test that shows each line. The title of the test begins
with the number of the line (\`X8: ...\`). Written by \`make executor-behaviour\` from the titles and results of the
tests. A test observes the result without runt: through procfs, through cgroup files, or through a program in the
container. The tests are in test/library, which is not part of the npm package.

| row | behaviour | test | result |
| --- | --- | --- | --- |`;

export function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const report = JSON.parse(readFileSync(process.argv[2] ?? "build/test/library.json", "utf8")) as Report;
  writeFileSync("docs/executor-behaviour.md", rowsPage(report, process.cwd()));
}
