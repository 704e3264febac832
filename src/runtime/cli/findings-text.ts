/** Findings for people: what, where, why, and what to do; at most 100 columns. */
import type { Entry } from "../check/catalogue/index.ts";
import type { Located, LocatedFinding, Severity } from "../check/index.ts";
import { printable } from "../errors/index.ts";
import type { Style } from "./style.ts";

/** What is printed beside the findings. */
export interface FindingsHeader {
  /** config.json as the caller named it. */
  readonly file: string;
  /** "live host, cgroup v2". */
  readonly host: string;
}

export interface Texts {
  readonly entryOf: (code: string) => Entry | undefined;
  readonly sectionText: (section: string) => string;
}

const WIDTH = 100;
/** Where sections end. */
const SECTION_END = 91;
const INDENT = "  ";

/** How many findings of one code in one file are told whole. */
const WHOLE = 3;
/** How many places of the others are named. */
const NAMED = 5;

/** `style`: for the word in front of a finding; none: plain text. */
export function findingsText({ findings, others }: Located, { file }: FindingsHeader, texts: Texts, style?: Style): string {
  const parts: string[] = [];
  const more = new Map<string, number>();
  for (const { code } of others) more.set(code, (more.get(code) ?? 0) + 1);
  const byCode = new Map<string, LocatedFinding[]>();
  for (const finding of findings) {
    const group = byCode.get(finding.code);
    if (group) group.push(finding);
    else byCode.set(finding.code, [finding]);
  }
  const told = new Map<string, number>();
  for (const finding of findings) {
    const group = byCode.get(finding.code) ?? [];
    const index = told.get(finding.code) ?? 0;
    told.set(finding.code, index + 1);
    // One more line would be as long as what it stands for.
    if (index < WHOLE || group.length <= WHOLE + 1) parts.push(findingText(finding, file, texts, style));
    else if (index === WHOLE) parts.push(othersText(group.slice(WHOLE), more.get(finding.code) ?? 0));
  }
  return parts.join("");
}

/** `beside`: how many there are beside these. */
function othersText(others: readonly LocatedFinding[], beside: number): string {
  const places = others.slice(0, NAMED).map(({ line, pointer }) => (pointer === "" ? `line ${line}` : pointer));
  const count = others.length + beside;
  const more = count > NAMED ? ", ..." : "";
  return wrap(`and ${count} more of ${others[0]?.code}: ${printable(places.join(", "))}${more} (all of them: -f json)`);
}

function findingText(finding: LocatedFinding, file: string, { entryOf, sectionText }: Texts, style?: Style): string {
  const { code, severity, line, column, pointer, message, value, remedy } = finding;
  const entry = entryOf(code);
  const label = `${severity}[${code}]`;
  const place = `${printable(file)}:${line}:${column}${pointer === "" ? "" : `  ${printable(pointer)}`}`;
  const head = `${style ? style[severity](label) : label} ${place}
`;
  const shown = value === undefined || namesValue(message, value) ? message : `${message} (found ${value})`;
  const section = entry === undefined ? "" : sectionText(entry.section);
  return head + wrap(printable(shown)) + fixLine(printable(remedy ?? entry?.fix ?? ""), section);
}

/** The message has the value in it already. */
function namesValue(message: string, value: string): boolean {
  const bare = value.startsWith('"') ? value.slice(1, -1) : value;
  return bare === "" || message.includes(bare) || message.includes(value);
}

function wrap(text: string, first = INDENT): string {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(" ")) {
    const next = line === INDENT || line === first ? line + word : `${line} ${word}`;
    if (next.length > WIDTH && line.trim() !== "") {
      lines.push(line);
      line = INDENT + word;
    } else line = next;
  }
  return `${[...lines, line].join("\n")}\n`;
}

/** The section stands at the right, behind the fix where there is room. */
function fixLine(fix: string, section: string): string {
  const lines = fix === "" ? [""] : wrap(fix, `${INDENT}fix: `).trimEnd().split("\n");
  if (section === "") return `${lines.join("\n")}\n`;
  const last = lines.pop() ?? "";
  if (last.length + 2 + section.length <= SECTION_END) lines.push(last + section.padStart(SECTION_END - last.length));
  else lines.push(last, section.padStart(SECTION_END));
  return `${lines.join("\n")}\n`;
}

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Findings for programs (schema: `runt schema findings`). */
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

/** `files`: how many were looked at. */
export function summaryText(counts: Readonly<Record<Severity, number>>, { host }: FindingsHeader, files = 1): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const advice = counts.advice === 0 ? "" : `, ${counts.advice} advice`;
  const where = files === 1 ? "" : ` in ${files} files`;
  return `${count(counts.error, "error")}, ${count(counts.warning, "warning")}${advice}${where} (${host})\n`;
}
