/** The table engine x scenario x runtime, and the page of the two tables, which are made by runs of their own. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Outcome } from "./run.ts";

export interface Row {
  readonly engine: string;
  readonly scenario: string;
  /** By runtime. */
  readonly outcomes: Readonly<Record<string, Outcome>>;
}

export function table(rows: readonly Row[], runtimes: readonly string[]): string {
  const lines = [
    `| engine | scenario | ${runtimes.join(" | ")} |`,
    `| --- | --- | ${runtimes.map(() => "---").join(" | ")} |`,
    ...rows.map(
      ({ engine, scenario, outcomes }) => `| ${engine} | ${scenario} | ${runtimes.map((name) => verdict(outcomes[name])).join(" | ")} |`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function verdict(outcome: Outcome | undefined): string {
  return outcome === undefined ? "" : outcome.passed ? "passed" : "FAILED";
}

const STARTS = `
## How long a start takes

Written by \`make test-engines ENGINES='--ratios 20 --write'\`. The figures are medians, with minimums in brackets.
In each round every runtime has its turn (\`test/engines/ratios.ts\`). The milliseconds are those of one busy machine.
Only the ratios matter: below 1 runt is faster.

`;

/** The scenarios' part of the page; the other stays. */
export function writeScenarios(page: string, text: string): void {
  writeFileSync(page, text + parts(page)[1]);
}

export function writeRatios(page: string, text: string): void {
  writeFileSync(page, parts(page)[0] + STARTS + text);
}

function parts(page: string): readonly [string, string] {
  const text = existsSync(page) ? readFileSync(page, "utf8") : "";
  const at = text.indexOf(STARTS.split("\n\n")[0]!);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at)];
}
