/** Findings for programs (schema: `runt schema findings`). */
import type { LocatedFinding, Severity } from "../check/index.ts";
import type { FindingsHeader, Texts } from "./findings-text.ts";

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function findingsDocument(
  findings: readonly LocatedFinding[],
  { file, host }: FindingsHeader,
  counts: Readonly<Record<Severity, number>>,
  { entryOf, sectionText }: Texts,
): object {
  const list = findings.map((finding) => {
    const entry = entryOf(finding.code);
    return {
      ...finding,
      ...(finding.remedy === undefined && entry && { remedy: entry.fix }),
      ...(entry && { section: sectionText(entry.section), title: entry.title }),
    };
  });
  return { file, host, counts, findings: list };
}
