/**
 * src/runtime/config/cri/kata.ts -> the tables of docs/kata-annotations.md between its two markers. The rest of that page is written by hand.
 * Usage: tsx tools/gen-kata-annotations.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { KATA_ANNOTATIONS, type KataUse } from "../src/runtime/config/index.ts";

export const FILE = resolve(dirname(fileURLToPath(import.meta.url)), "../docs/kata-annotations.md");
const BEGIN = "<!-- Begin of the tables of tools/gen-kata-annotations.ts. -->";
const END = "<!-- End of the tables. -->";

const PARTS: Readonly<Record<KataUse, readonly [title: string, heading: string]>> = {
  allowed: ["Their effect needs the permission of the operator: their last word in `allow.annotations` of vm.json", "effect"],
  applied: ["They always have their effect", "effect"],
  refused: ["`create` refuses them, unless the value asks for what is so anyway", "reason"],
  unused: ["They have no effect; `create` warns of each", "reason"],
};

/** A table for each use, with the names after "io.katacontainers.". */
export function tables(): string {
  const parts = Object.entries(PARTS).map(([use, [title, heading]]) => {
    const rows = Object.entries(KATA_ANNOTATIONS)
      .filter(([, annotation]) => annotation.use === use)
      .map(([name, { text, harmless = [] }]) => {
        const values =
          harmless.length === 0
            ? ""
            : `; accepted: ${harmless.map((value) => (value === "" ? "an empty value" : `\`${value}\``)).join(", ")}`;
        return `| \`${name}\` | ${text}${values} |`;
      });
    return `${title}:\n\n| \`io.katacontainers.\` | ${heading} |\n| --- | --- |\n${rows.join("\n")}\n`;
  });
  return `${BEGIN}\n\n${parts.join("\n")}\n${END}`;
}

/** The page with the tables of now. @throws Error: it has not both markers */
export function page(text: string): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`${FILE} has not both markers`);
  return text.slice(0, begin) + tables() + text.slice(end + END.length);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, page(readFileSync(FILE, "utf8")));
