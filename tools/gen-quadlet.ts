/**
 * Write the tables of docs/engine/quadlet.md: the keys of Quadlet files, as src/pod/quadlet/fields.ts has them.
 *
 * Usage: tsx tools/gen-quadlet.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Field, SECTIONS } from "../src/pod/quadlet/fields.ts";

export const QUADLET_PAGE = fileURLToPath(new URL("../docs/engine/quadlet.md", import.meta.url));
const MARKER = "<!-- keys -->\n";

const FORMS = { text: "one value", texts: "a value each time", words: "words", pairs: "NAME=VALUE words", flag: "true or false" } as const;

function rowOf(key: string, field: Field): string {
  const how = field.kind === "used" ? FORMS[field.form] : field.kind === "idle" ? "*idle*" : "*refused*";
  return `| \`${key}\` | ${how} | ${field.says.replaceAll("|", "\\|")} |`;
}

/** The page with its tables. @param page as it is */
export function quadletPage(page: string): string {
  const [head] = page.split(MARKER);
  const tables = Object.entries(SECTIONS).map(([name, fields]) => {
    const rows = Object.keys(fields)
      .sort((a, b) => a.localeCompare(b, "en"))
      .map((key) => rowOf(key, fields[key]!));
    return `\n### [${name}]\n\n| key | value | effect |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
  });
  return `${head}${MARKER}${tables.join("")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(QUADLET_PAGE, quadletPage(readFileSync(QUADLET_PAGE, "utf8")));
