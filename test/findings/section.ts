/** The measured part of docs/findings.md, below the marker that tools/gen-findings.ts leaves alone. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";

const FILE = join(REPOSITORY, "docs/findings.md");
const MARKER = "<!-- Below: measured, not generated. -->\n";

/** Put a section there, in the place of the one with the same title. */
export function replaceSection(title: string, text: string): void {
  const [above = "", below = ""] = readFileSync(FILE, "utf8").split(MARKER);
  const sections = below.split(/^(?=## )/m).filter((section) => section.trim() !== "" && !section.startsWith(`## ${title}\n`));
  const all = [...sections.map((section) => section.trim()), `## ${title}\n\n${text}`];
  writeFileSync(FILE, `${above}${MARKER}\n${all.join("\n\n")}\n`);
}
