/** Findings for programs (schema: `runt schema findings`). */
import type { Severity } from "../check/finding.ts";
import type { LocatedFinding } from "../check/located.ts";
import type { FindingsHeader, Texts } from "./findings-text.ts";

export function findingsJson(
  findings: readonly LocatedFinding[],
  { file, host }: FindingsHeader,
  counts: Readonly<Record<Severity, number>>,
  { entryOf, sectionText }: Texts,
): string {
  const list = findings.map((finding) => {
    const entry = entryOf(finding.code);
    return {
      ...finding,
      ...(finding.remedy === undefined && entry && { remedy: entry.fix }),
      ...(entry && { section: sectionText(entry.section), title: entry.title }),
    };
  });
  return `${JSON.stringify({ file, host, counts, findings: list }, null, 2)}\n`;
}
