/**
 * `make engine-mutants`: the proof that the tests of the engine's rows bite. One thing is made wrong at a time; a test of its row must turn red.
 *   --only IDS   these rows or mutants, separated by commas
 * Needs root, `make` and `make library`.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ENGINE_ROWS } from "../../../tools/engine-rows.ts";
import { sharedRootfs } from "../../support/programs.ts";
import { ENGINE_MUTANTS } from "./catalogue.ts";
import { type Mutant, rowOf } from "./mutant.ts";
import { Tree } from "./tree.ts";

const { values } = parseArgs({ options: { only: { type: "string" } } });
const asked = values.only?.split(",");
const tried = ENGINE_MUTANTS.filter((one) => asked === undefined || asked.includes(one.id) || asked.includes(rowOf(one)));

/** What vitest's JSON report says. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

const work = mkdtempSync("/tmp/runt-engine-mutants-");
chmodSync(work, 0o711);

/** What a mutant keeps from happening is waited for. vitest ends that wait itself, and then the test removes its daemons and containers. */
const LONGEST_TEST_MS = 5 * 60_000;

/** A mutant that never ends is none: its daemons and containers would stay. */
const LONGEST_MS = 10 * 60_000;

/** Whether a test of the row has failed. A file that cannot be loaded fails no test: then the mutant is wrong. */
function isKilled(mutant: Mutant, { directory }: Tree): boolean {
  const output = join(work, "report.json");
  rmSync(output, { force: true });
  const project = mutant.test.startsWith("test/engine/") ? "engine" : "unit";
  const limits = ["--retry=0", "--bail=1", `--testTimeout=${LONGEST_TEST_MS}`];
  const words = ["run", "--project", project, mutant.test, ...limits, "-t", `\\b${rowOf(mutant)}\\b`];
  spawnSync("build/test/plain", ["node_modules/.bin/vitest", ...words, "--reporter=json", `--outputFile=${output}`], {
    cwd: directory,
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
  });
  const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(output, "utf8")) as Report;
  if (numFailedTests + numPassedTests === 0) throw new Error(`mutant ${mutant.id}: no test of ${mutant.test} has run`);
  return numFailedTests > 0;
}

const survivors: Mutant[] = [];
// A test makes it with bundles/make-rootfs.sh where it is missing; the copy of the repository for mutants has no bundles.
sharedRootfs();
try {
  const tree = new Tree(join(work, "tree"));
  for (const [index, mutant] of tried.entries()) {
    const restore = tree.apply(mutant);
    const killed = isKilled(mutant, tree);
    restore();
    if (!killed) survivors.push(mutant);
    console.log(`[${index + 1}/${tried.length}] ${mutant.id}: ${mutant.fault}: ${killed ? `killed by ${mutant.test}` : "SURVIVED"}`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
const rows = new Set(ENGINE_MUTANTS.map(rowOf));
const without = ENGINE_ROWS.filter((row) => !rows.has(row));
console.log(`\n${tried.length} mutants, ${tried.length - survivors.length} killed, ${survivors.length} survived`);
console.log(`rows without a mutant (${without.length} of ${ENGINE_ROWS.length}): ${without.join(" ") || "none"}`);
process.exitCode = survivors.length === 0 ? 0 : 1;
