/** explain: what a code means, from the texts that are in this executable. */
import { CHAPTERS, type Entry, entryOf, exampleText, sectionText } from "../../check/catalogue/index.ts";
import { CATALOGUE, type ErrorCode, RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { closeNames } from "../../spec/index.ts";
import type { Verb } from "../context.ts";
import { print } from "../output.ts";

export const verb: Verb = ({ positionals: [code] }) => {
  print(code === undefined ? allCodes() : explained(code));
  return 0;
};

const isError = (code: string): code is ErrorCode => Object.hasOwn(CATALOGUE, code);

function explained(code: string): string {
  const entry = entryOf(code);
  // A few codes are those of both.
  const parts = [...(entry ? [findingText(code, entry)] : []), ...(isError(code) ? [errorText(code)] : [])];
  if (parts.length > 0) return parts.join("\n");
  const known = [...CHAPTERS.flatMap(([, entries]) => Object.keys(entries)), ...Object.keys(CATALOGUE)];
  const close = closeNames(code, known);
  throw new RuntError("usage", `there is no code "${code}"`, {
    hint: close.length > 0 ? `did you mean ${close.join(" or ")}?` : "runt explain lists all of them",
  });
}

function findingText(code: string, entry: Entry): string {
  const { level, title, why, fix, section } = entry;
  const example = exampleText(entry).replaceAll(/^/gm, "  ");
  return `${level} ${code}: ${title}\n\n${why}\nfix: ${fix}\nsource: ${sectionText(section)}\n\n${example}\n`;
}

function errorText(code: ErrorCode): string {
  const { exit, meaning } = CATALOGUE[code];
  const rows = troubleRows(host.resource("troubleshooting") ?? "", code).map(
    ({ text, cause, fix }) => `\n  ${text}\n    cause: ${cause}\n    fix: ${fix}\n`,
  );
  return `error ${code}: ${meaning} (exit status ${exit})\n${rows.join("")}`;
}

function allCodes(): string {
  const findings = CHAPTERS.map(([title, entries]) => {
    const lines = Object.entries(entries).map(([code, { level, title: what }]) => `  ${code.padEnd(WIDTH)} ${level}: ${what}\n`);
    return `${title}\n${lines.join("")}`;
  });
  const errors = Object.entries(CATALOGUE).map(([code, { meaning }]) => `  ${code.padEnd(WIDTH)} ${meaning}\n`);
  return `${findings.join("\n")}\nErrors\n${errors.join("")}`;
}

const WIDTH = 32;

/** What docs/troubleshooting.md says of an error code. */
interface TroubleRow {
  readonly text: string;
  readonly cause: string;
  readonly fix: string;
}

/** Its section is headed by the code in backticks, and has a table of text, cause and fix. Marks of Markdown are taken away. */
export function troubleRows(page: string, code: string): readonly TroubleRow[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`\`${code}\`\n`)) ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (text|what is seen|---)/.test(line))
    .map((line) => {
      const [text = "", cause = "", fix = ""] = line.replace(/^\| | \|$/g, "").split(/ \|(?= )/);
      return { text: plain(text), cause: plain(cause), fix: plain(fix) };
    });
}

/** Code marks and links. */
function plain(text: string): string {
  return text
    .trim()
    .replaceAll("`", "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}
