/**
 * `make oci-validation PROGRAMS=DIR`: the validation programs of the OCI runtime-tools, from a tree that is built already.
 *   --programs DIR   the tree, or its directory "validation"
 *   --runtime NAME   runt (default), crun, runc, or a path
 *   --only A,B       programs whose name begins like this
 *   --limit SECONDS  for each program (default 60)
 * Status 1: a program that has to be clean with runt is not. Needs root.
 */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { reExec } from "../conformance/sandbox.ts";
import { REPOSITORY } from "../support/programs.ts";
import { EXPLAINED, RACES } from "./expected.ts";
import { type Place, runProgram } from "./run.ts";
import { judge, type Verdict } from "./tap.ts";
import { findTree } from "./tree.ts";

const { values } = parseArgs({
  options: {
    programs: { type: "string", default: "" },
    runtime: { type: "string", default: "runt" },
    only: { type: "string", default: "" },
    limit: { type: "string", default: "60" },
    inside: { type: "boolean", default: false },
  },
});

function runtimePath(name: string): string {
  if (name === "runt") return join(REPOSITORY, "bin/runt");
  return name.includes("/") ? resolve(name) : execFileSync("/bin/sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" }).trim();
}

const ATTEMPTS = 10;

async function verdictOf(name: string, path: string, place: Place): Promise<Verdict> {
  let verdict = judge(await runProgram(path, place));
  for (let attempt = 1; !verdict.clean && name in RACES && attempt < ATTEMPTS; attempt++) verdict = judge(await runProgram(path, place));
  return verdict;
}

const indent = (text: string) => text.replaceAll(/^/gm, "    ");

function tell(name: string, { clean, passed, failures }: Verdict): void {
  console.log(clean ? `clean   ${name} (${passed} checks)` : `NOT OK  ${name} (${passed} checks passed)\n${indent(failures.join("\n"))}`);
}

async function inside(): Promise<number> {
  const { directory, programs } = findTree(values.programs);
  const only = values.only.split(",");
  const chosen = programs.filter(({ name }) => only.some((beginning) => name.startsWith(beginning)));
  const place = { directory, runtime: runtimePath(values.runtime), limitMs: Number(values.limit) * 1000 };
  const clean: string[] = [];
  for (const { name, path } of chosen) {
    const verdict = await verdictOf(name, path, place);
    tell(name, verdict);
    if (verdict.clean) clean.push(name);
  }
  console.log(`\n${values.runtime}: ${clean.length} of ${chosen.length} programs clean`);
  return values.runtime === "runt"
    ? judgeAll(
        chosen.map(({ name }) => name).filter((name) => !clean.includes(name)),
        clean,
      )
    : 0;
}

/** Only runt is held to the list; the others are there to compare with. */
function judgeAll(failed: readonly string[], clean: readonly string[]): number {
  const explained = failed.filter((name) => name in EXPLAINED);
  const unexpected = failed.filter((name) => !(name in EXPLAINED));
  if (explained.length > 0) console.log(`\nExplained:\n${explained.map((name) => `  ${name}: ${EXPLAINED[name]}`).join("\n")}`);
  const better = clean.filter((name) => name in EXPLAINED);
  if (better.length > 0) console.log(`\nClean here, though not expected everywhere: ${better.join(", ")}`);
  if (unexpected.length > 0) console.log(`\nHas to be clean and is not: ${unexpected.join(", ")}`);
  return unexpected.length > 0 ? 1 : 0;
}

try {
  if (values.programs === "") throw new Error("say where the built tree is: make oci-validation PROGRAMS=DIR");
  if (process.geteuid?.() !== 0) throw new Error("the validation programs need root");
  process.exit(values.inside ? await inside() : await reExec("--inside"));
} catch (error) {
  console.error(`oci-validation: ${(error as Error).message}`);
  process.exit(2);
}
