/** A report into docs/performance.md, or into docs/performance/v1.md where it is of cgroup v1, and the pictures. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./namespace.ts";
import { withSection } from "./page.ts";
import { countsTable, crowdTable, enginesTable, floorTable, origin, type Report, sizesTable, timesTable } from "./report.ts";
import { type Bar, barChart } from "./svg.ts";

const DIRECTORY = join(REPOSITORY, "docs/performance");
const UNIFIED_PAGE = `${DIRECTORY}.md`;
const V1_PAGE = join(DIRECTORY, "v1.md");

/** Replaces the sections for which the report has figures. */
export function writePage(report: Report, instructions?: Parameters<typeof countsTable>[1]): void {
  const { section, tree, unified = false, sizes, crowds, floor, engines } = report;
  const place = `${unified ? "-v2" : ""}${tree === undefined ? "" : `-${tree}`}`;
  const all = origin({ ...report, versions: [...report.versions, ...(report.furtherVersions ?? [])] });
  const parts: Record<string, string> = {};
  if (report.timed.length > 0) parts[section] = `${picture(report)}${origin(report)}\n\n${timesTable(report)}`;
  if (floor) parts[`floor${place}`] = `${origin(report)}\n\n${floorTable(floor)}`;
  if (crowds) parts[`crowd${place}`] = `${all}\n\n${crowdTable(crowds)}`;
  if (sizes) parts[`sizes${place}`] = `${all}\n\n${sizesTable(sizes)}\n\n${countsTable("system calls", sizes.calls)}`;
  if (instructions) parts[`instructions${place}`] = `${origin(report)}\n\n${countsTable("instructions", instructions)}`;
  if (engines) parts[`engines${place}`] = `${all}\n\n${enginesTable(engines)}`;
  const file = unified ? UNIFIED_PAGE : V1_PAGE;
  let page = readFileSync(file, "utf8");
  for (const [name, text] of Object.entries(parts)) page = withSection(page, name, text);
  writeFileSync(file, page);
}

/** Pictures have the scenarios below this median. Longer bars would make the others invisible. */
const LONGEST_MS = 100;

function picture({ section, versions, peer, timed, unified = false }: Report): string {
  const bars = timed.flatMap(({ title, outcome }): Bar[] => {
    if ("missing" in outcome || outcome.peer.median > LONGEST_MS || outcome.own.median > LONGEST_MS) return [];
    return [{ label: title.replaceAll("`", ""), values: [outcome.own.median, outcome.peer.median] }];
  });
  if (bars.length === 0) return "";
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(
    join(DIRECTORY, `${section}.svg`),
    barChart({ title: `runt and ${(versions[1] ?? peer).replace(" version", "")}, medians`, unit: "ms", names: ["runt", peer], bars }),
  );
  return `![Medians of runt and ${peer}](${unified ? "performance/" : ""}${section}.svg)\n\n`;
}
