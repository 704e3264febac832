/**
 * Build the site of the documentation into build/site/html: its pages into build/site/pages, the reference of the types by typedoc, all of it by
 * VitePress. Uses no network. SITE_BASE: path of the address at which the site will be, such as /runt/ (default: /).
 *
 * Usage: tsx tools/site.ts (in the repository, after npm ci here and in site/)
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sitePages } from "./site/pages.ts";

const OUT = "build/site";

rmSync(OUT, { recursive: true, force: true });
run("node_modules/.bin/typedoc", "--options", "site/typedoc.json", "--logLevel", "Warn");
for (const [path, text] of sitePages(".")) {
  mkdirSync(dirname(join(OUT, "pages", path)), { recursive: true });
  writeFileSync(join(OUT, "pages", path), text);
}
run("site/node_modules/.bin/vitepress", "build", "site");

function run(program: string, ...words: string[]): void {
  const { status, error } = spawnSync(program, words, { stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
