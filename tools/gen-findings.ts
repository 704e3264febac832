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

const INTRODUCTION = `# Findings of \`runt validate\`

Written by \`tools/gen-findings.ts\` from \`src/runtime/check/catalogue\`, whose examples are also the tests (\`test/unit/findings.test.ts\`): each one is
one edit away from a clean configuration, has its finding and no other, and is clean again when it is fixed.

| level | meaning | \`--fail-on\` |
| --- | --- | --- |
| error | the container cannot be created or started as it is described | default |
| warning | it can, and something in it does nothing, or other than what stands there | \`warning\` |
| advice | it works; there is a better way, or another runtime would refuse it | \`advice\` |

Codes are stable. Findings that look at the host (files, kernel, cgroups) need \`--host live\` or a file of recorded facts; \`--host none\`
reads the configuration alone, for the host that \`plan --host none\` takes: root, cgroup v2, no security module. \`create\` and \`run\` refuse the first error of the same checks, with the same words.
`;

function entryText(code: string, entry: Entry): string {
  const { level, title, why, fix, section } = entry;
  return `### ${code}\n\n**${level}**: ${title}. (${sectionText(section)})\n\n${why}\n*Fix:* ${fix}.\n\n\`\`\`\n${exampleText(entry)}\n\`\`\`\n`;
}

/** The generated part. */
export function findingsDocument(): string {
  const chapters = CHAPTERS.map(([title, entries]) =>
    [`## ${title}\n`, ...Object.entries(entries).map(([code, entry]) => entryText(code, entry))].join("\n"),
  );
  const count = CHAPTERS.reduce((sum, [, entries]) => sum + Object.keys(entries).length, 0);
  const rows = LEFT_OUT.map(([check, by, why]) => `| ${check} | ${by} | ${why} |`).join("\n");
  const leftOut = `## Checks of others that are left out\n\n| check | made by | why not here |\n| --- | --- | --- |\n${rows}\n`;
  return `${INTRODUCTION}\n${count} findings.\n\n${chapters.join("\n")}\n${leftOut}\n${MARKER}\n`;
}

/** The whole file, with what stands below the marker now. */
export function wholeDocument(current: string): string {
  const [, below = ""] = current.split(`${MARKER}\n`);
  return findingsDocument() + below;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(FILE, wholeDocument(existsSync(FILE) ? readFileSync(FILE, "utf8") : ""));
