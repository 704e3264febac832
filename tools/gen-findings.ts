/**
 * src/runtime/check/catalogue -> docs/findings.md: one entry for each finding, with what makes it and what makes it go away.
 * What stands below the marker of that file is kept: it is measured, not generated.
 * Usage: tsx tools/gen-findings.ts
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CHAPTERS, type Entry, exampleText, sectionText } from "../src/runtime/check/catalogue/index.ts";
import { LEFT_OUT } from "./findings-left-out.ts";

export const FILE = resolve(dirname(fileURLToPath(import.meta.url)), "../docs/findings.md");
const MARKER = "<!-- Below: measured, not generated. -->";
const COLUMNS = 120;

const INTRODUCTION = `# Findings of \`runt validate\`

This page lists every finding of \`runt validate\`, with its reason and its fix. Written by \`tools/gen-findings.ts\` from
\`src/runtime/check/catalogue\`. The examples are also tests (\`test/unit/findings.test.ts\`). Each example differs from a
clean configuration by one edit. It has exactly its own finding, and none after the fix.

| level | meaning | \`--fail-on\` |
| --- | --- | --- |
| error | the container cannot be created or started with this configuration | default |
| warning | the container can be created, but a part of the configuration has no effect, or an unexpected one | \`warning\` |
| advice | it works, but there is a better way, or another runtime would refuse it | \`advice\` |

Codes are stable. Findings about the host (files, kernel, cgroups) need \`--host live\` or a file of recorded facts.
\`--host none\` reads only the configuration, for the host that \`plan --host none\` assumes: root, cgroup v2, no security
module. \`create\` and \`run\` make the same checks. They refuse a configuration at its first error, with the same text.
`;

function entryText(code: string, entry: Entry): string {
  const { level, title, why, fix, section } = entry;
  const reason = wrapped(`**${level}**: ${title}. (${sectionText(section)})`);
  return `### ${code}\n\n${reason}\n\n${wrapped(why)}\n${wrapped(`*Fix:* ${fix}.`)}\n\n\`\`\`\n${exampleText(entry)}\n\`\`\`\n`;
}

/** A line of prose has at most 120 columns. */
function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < COLUMNS) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}

/** The generated part. */
export function findingsDocument(): string {
  const chapters = CHAPTERS.map(([title, entries]) =>
    [`## ${title}\n`, ...Object.entries(entries).map(([code, entry]) => entryText(code, entry))].join("\n"),
  );
  const count = CHAPTERS.reduce((sum, [, entries]) => sum + Object.keys(entries).length, 0);
  const rows = LEFT_OUT.map(([check, by, why]) => `| ${check} | ${by} | ${why} |`).join("\n");
  const leftOut = `## Checks of other programs that are left out\n\n| check | made by | reason |\n| --- | --- | --- |\n${rows}\n`;
  return `${INTRODUCTION}\n${count} findings.\n\n${chapters.join("\n")}\n${leftOut}\n${MARKER}\n`;
}

/** The whole file, with what stands below the marker now. */
export function wholeDocument(current: string): string {
  const [, below = ""] = current.split(`${MARKER}\n`);
  return findingsDocument() + below;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(FILE, wholeDocument(existsSync(FILE) ? readFileSync(FILE, "utf8") : ""));
