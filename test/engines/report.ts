/** The table engine x scenario x runtime. */
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
