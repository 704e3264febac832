import type { Severity } from "../check/index.ts";
import type { FindingsHeader } from "./findings-text.ts";

/** `files`: how many were looked at. */
export function summaryText(counts: Readonly<Record<Severity, number>>, { host }: FindingsHeader, files = 1): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const advice = counts.advice === 0 ? "" : `, ${counts.advice} advice`;
  const where = files === 1 ? "" : ` in ${files} files`;
  return `${count(counts.error, "error")}, ${count(counts.warning, "warning")}${advice}${where} (${host})\n`;
}
