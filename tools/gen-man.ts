/**
 * Write man/*.8 and man/*.1 from the command tables, and man/*.5 from the schemas of the files; `--check`: change nothing, and fail when a page is
 * missing, superfluous or not current. The pages are committed, so that they can be read in the repository.
 *
 * Usage: tsx tools/gen-man.ts [--check]
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import "./host-on-node.ts";
import { manPages } from "./man-page.ts";

const { filePages } = await import("./man-page-files.ts");
const { taskPages } = await import("./man-page-tasks.ts");

const DIRECTORY = "man";
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const pages = new Map([...manPages(version), ...taskPages(version), ...filePages(version)]);

mkdirSync(DIRECTORY, { recursive: true });
const present = new Map(readdirSync(DIRECTORY).map((name) => [name, readFileSync(join(DIRECTORY, name), "utf8")]));
const stale = [...pages].filter(([name, text]) => present.get(name) !== text).map(([name]) => name);
const superfluous = [...present.keys()].filter((name) => !pages.has(name));

if (process.argv.includes("--check")) {
  for (const name of [...stale, ...superfluous]) console.error(`${DIRECTORY}/${name} is not current: run make man`);
  process.exitCode = stale.length + superfluous.length > 0 ? 1 : 0;
} else {
  for (const name of stale) writeFileSync(join(DIRECTORY, name), pages.get(name)!);
  for (const name of superfluous) rmSync(join(DIRECTORY, name));
}
