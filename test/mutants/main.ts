/**
 * `make mutants`: the proof that the conformance tests bite. Builds runt with one thing taken away at a time; some test must fail for each.
 *   --only TEXT     mutants whose id contains it; more, separated by commas
 *   --coverage FILE what the tests ask for, measured before (test/conformance --coverage) instead of now
 *   --likely        only the tests that ask for the row; a survivor may then be one by mistake
 *   --workers N     at a time (default 2)
 *   --write         the survivors into docs/conformance.md
 * Needs root and `make`.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isUnified } from "../conformance/cgroups.ts";
import { withSection } from "../conformance/sections.ts";
import { REPOSITORY } from "../support/programs.ts";
import { buildMutant } from "./build.ts";
import { MUTANTS, type Mutant } from "./catalogue.ts";
import { BESIDE, ELSEWHERE, EXPLAINED } from "./survivors.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    coverage: { type: "string" },
    likely: { type: "boolean", default: false },
    workers: { type: "string", default: "2" },
    write: { type: "boolean", default: false },
  },
});

/** What each test of the unchanged runt asks for: words of its configurations and operations of its plans. */
type Coverage = Readonly<Record<string, { readonly words: readonly string[]; readonly ops: readonly string[] }>>;

const work = mkdtempSync("/tmp/runt-mutants-");
// Some tests run it as another user.
chmodSync(work, 0o711);

/** Some mutants run the programs of the tests on the host itself, in its root and under its name: they get another one. */
const PROTECT = `for place in /tmp /run "$PWD"; do mount --bind "$place" "$place"; done; mount -o remount,bind,ro / && cd "$PWD" && exec "$@"`;
const PROTECTED = ["--uts", "--ipc", "--net", "--mount", "--propagation", "private", "sh", "-c", PROTECT, "sh"];

/** Output of a conformance run and whether all passed. */
async function conformance(args: readonly string[]): Promise<{ passed: boolean; output: string }> {
  const child = spawn("unshare", [...PROTECTED, "node_modules/.bin/tsx", "test/conformance/main.ts", ...args], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const status = await new Promise<number>((done) => child.on("close", (code) => done(code ?? 1)));
  return { passed: status === 0, output };
}

async function measureCoverage(): Promise<Coverage> {
  if (values.coverage !== undefined) return JSON.parse(readFileSync(values.coverage, "utf8"));
  const file = join(work, "coverage.json");
  const { passed, output } = await conformance(["--coverage", file]);
  if (!passed) throw new Error(`the unchanged runt fails:\n${output}`);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** The first test that fails, or undefined: the mutant survives. */
async function killer(mutant: Mutant, coverage: Coverage, directory: string): Promise<string | undefined> {
  const runtime = buildMutant(mutant, directory);
  const likely = Object.entries(coverage)
    .filter(([, { words, ops }]) => (mutant.table === "op" ? ops : words).includes(mutant.row))
    .map(([item]) => item);
  const parts = [likely.slice(0, FIRST).join(","), likely.slice(FIRST).join(","), values.likely ? "" : ALL].filter(Boolean);
  for (const only of parts) {
    const { passed, output } = await conformance([
      "--runtime",
      runtime,
      "--first-failure",
      "--workers",
      "1",
      ...(only === ALL ? [] : ["--only", only]),
    ]);
    if (!passed) return / ([A-Z\d]{3}-\d\d) FAILED/.exec(output)?.[1] ?? `(${output.trim().split("\n").at(-1)})`;
  }
  return undefined;
}

/** For docs/conformance.md. */
function report(): string {
  const tables = [...new Set(TRIED.map(({ table }) => table))];
  const rows = tables.map((table) => {
    const all = TRIED.filter((mutant) => mutant.table === table);
    return `| ${table} | ${all.length} | ${survivors.filter((mutant) => mutant.table === table).length} |`;
  });
  const list = survivors.map(({ id }) => `- ${id}: ${EXPLAINED[id] ?? "not explained"}`).sort();
  return `Written by \`make mutants\`. A mutant is a build of runt without one kind of operation, or without one row of a table. For
each mutant, a test above must fail.

| table | mutants | survived |
| --- | --: | --: |
${rows.join("\n")}

${list.length === 0 ? "None survived." : list.join("\n")}

These mutants were not tested, because no plan of the tests above has the operation on this host:

${MUTANTS.filter((mutant) => !TRIED.includes(mutant))
  .map(({ id }) => `- ${id}: ${BESIDE[id] ?? ELSEWHERE[id]}`)
  .join("\n")}`;
}

/** Those that some plan on this host can have. */
const TRIED = MUTANTS.filter(({ id }) => BESIDE[id] === undefined && (isUnified() || ELSEWHERE[id] === undefined));

const ALL = "all";
/** Tried before the others that ask for the row. */
const FIRST = 12;

const coverage = await measureCoverage();
const queue = TRIED.filter(({ id }) => values.only.split(",").some((text) => id.includes(text)));
const total = queue.length;
const survivors: Mutant[] = [];
let done = 0;
await Promise.all(
  Array.from({ length: Number(values.workers) }, async (_, worker) => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const item = await killer(mutant, coverage, join(work, String(worker)));
      if (item === undefined) survivors.push(mutant);
      console.log(`[${++done}/${total}] ${mutant.id}: ${item === undefined ? "SURVIVED" : `killed by ${item}`}`);
    }
  }),
);
rmSync(work, { recursive: true, force: true });

const unexplained = survivors.filter(({ id }) => EXPLAINED[id] === undefined);
if (values.write && values.only === "") {
  const page = join(REPOSITORY, "docs/conformance.md");
  writeFileSync(page, withSection(readFileSync(page, "utf8"), "Mutants", report()));
}
console.log(`\n${total} mutants, ${total - survivors.length} killed, ${survivors.length} survived (${unexplained.length} unexplained)`);
for (const { id } of survivors) console.log(`  ${id}: ${EXPLAINED[id] ?? "UNEXPLAINED"}`);
process.exit(unexplained.length === 0 ? 0 : 1);
