/** Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which code hosts and editors show beside the file. */
import type { LocatedFinding, Severity } from "../check/index.ts";
import type { Texts } from "./findings-text.ts";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const LEVELS: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", advice: "note" };

export interface FindingsOf {
  /** As the caller named it. */
  readonly file: string;
  readonly findings: readonly LocatedFinding[];
}

/** @param version of this program */
export function findingsSarif(files: readonly FindingsOf[], version: string, texts: Texts): string {
  const codes = [...new Set(files.flatMap(({ findings }) => findings.map(({ code }) => code)))].sort();
  const run = {
    tool: { driver: { name: "runt", version, rules: codes.map((code) => rule(code, texts)) } },
    columnKind: "utf16CodeUnits",
    results: files.flatMap(({ findings, file }) => findings.map((finding) => result(finding, file, codes))),
  };
  return `${JSON.stringify({ $schema: SCHEMA, version: "2.1.0", runs: [run] }, null, 2)}\n`;
}

function rule(code: string, { entryOf, sectionText }: Texts) {
  const entry = entryOf(code);
  if (entry === undefined) return { id: code };
  return {
    id: code,
    shortDescription: { text: entry.title },
    fullDescription: { text: entry.why },
    help: { text: `${entry.fix} (${sectionText(entry.section)})` },
    defaultConfiguration: { level: LEVELS[entry.level] },
  };
}

function result({ code, severity, message, pointer, line, column, remedy }: LocatedFinding, file: string, codes: readonly string[]) {
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: LEVELS[severity],
    message: { text: remedy === undefined ? message : `${message} (${remedy})` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: { startLine: line, startColumn: column } },
        ...(pointer !== "" && { logicalLocations: [{ fullyQualifiedName: pointer, kind: "member" }] }),
      },
    ],
  };
}

/** A path as a relative or file URI (RFC 3986). */
function uriOf(file: string): string {
  const path = file
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
  return path.startsWith("/") ? `file://${path}` : path;
}
