/**
 * `make conformance`: every requirement of the OCI runtime specification 1.3 that can be observed, tested from outside. Needs root.
 *   --runtime a,b   runt, crun, runc, or paths (default: runt)
 *   --only TEXT     items whose id starts with it (MNT, OPT-05); more, separated by commas
 *   --json FILE     write the outcomes
 *   --also FILE     outcomes (--json) of another host, to fill in what is skipped here
 *   --write         write docs/conformance.md
 *   --verbose       a line for each item, not only for those that fail
 *   --first-failure stop at the first item that fails
 *   --coverage FILE write what each item asks for: words of its configurations, operations of its plans (for test/mutants)
 *   --workers N     items at a time (default 2)
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { REPOSITORY, reachableRootfs, untouchedRootfs } from "../support/programs.ts";
import { CGROUP_PARENT, cgroupsBelow, removeCgroups } from "./cgroups.ts";
import type { Runtime } from "./context.ts";
import { type Asked, asked } from "./coverage.ts";
import { document } from "./document.ts";
import { GROUPS } from "./groups.ts";
import { merge } from "./merge.ts";
import { type Outcome, type Run, runItems } from "./run.ts";
import { reExec } from "./sandbox.ts";
import { section } from "./sections.ts";
import { count, type Outcomes, summary } from "./table.ts";

const KNOWN: Readonly<Record<string, string>> = { runt: join(REPOSITORY, "bin/runt"), crun: "/usr/bin/crun", runc: "/usr/sbin/runc" };

const { values } = parseArgs({
  options: {
    runtime: { type: "string", default: "runt" },
    only: { type: "string", default: "" },
    json: { type: "string" },
    also: { type: "string" },
    write: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
    "first-failure": { type: "boolean", default: false },
    coverage: { type: "string" },
    workers: { type: "string", default: "2" },
    inside: { type: "boolean", default: false },
  },
});

async function test(runtime: Runtime): Promise<Outcomes> {
  const directory = mkdtempSync("/tmp/runt-conformance-");
  // The root of a user namespace goes through it.
  chmodSync(directory, 0o711);
  const only = values.only.split(",");
  const items = GROUPS.flatMap((group) => group.items).filter(({ id }) => only.some((prefix) => id.startsWith(prefix)));
  let failures = 0;
  const coverage: Record<string, Asked> = {};
  try {
    const run: Run = {
      runtime,
      directory,
      rootfs: reachableRootfs(directory),
      untouchedRootfs: untouchedRootfs(directory),
      workers: Number(values.workers),
      enough: () => values["first-failure"] && failures > 0,
      tested: ({ id }, context) => {
        if (values.coverage !== undefined) coverage[id] = asked(context);
      },
      done: ({ id, text }, outcome) => {
        if (outcome.result !== "failed") {
          if (values.verbose) console.log(`${runtime.name} ${id} ${outcome.result}`);
          return;
        }
        failures++;
        console.log(`${runtime.name} ${id} FAILED: ${text}\n    ${outcome.detail.replaceAll("\n", "\n    ")}`);
      },
    };
    const outcomes = await runItems(items, run);
    if (values.coverage !== undefined) writeFileSync(values.coverage, JSON.stringify(coverage));
    return outcomes;
  } finally {
    removeCgroups(CGROUP_PARENT);
    rmSync(directory, { recursive: true, force: true });
    const left = cgroupsBelow(CGROUP_PARENT);
    if (left.length > 0) console.error(`left: ${left.join(" ")}`);
  }
}

async function inside(): Promise<number> {
  const runs: [string, Outcomes][] = [];
  for (const name of values.runtime.split(",")) {
    const path = KNOWN[name] ?? resolve(name);
    const outcomes = withOthers(basename(path), await test({ name: basename(path), path }));
    runs.push([basename(path), outcomes]);
    console.log(`\n${summary(GROUPS, outcomes)}\n`);
    for (const [id, outcome] of outcomes) if (isLeftOut(outcome)) console.log(`${id} ${outcome.result}: ${outcome.detail}`);
    const { passed, failed, skipped, untested } = count(
      GROUPS.flatMap(({ items }) => items),
      outcomes,
    );
    console.log(`${basename(path)}: ${passed} passed, ${failed} failed, ${skipped + untested} skipped`);
  }
  const plain = Object.fromEntries(runs.map(([name, outcomes]) => [name, Object.fromEntries(outcomes)]));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(plain, null, 1)}\n`);
  if (values.write) writePage(runs);
  // The peers are there to compare with.
  const judged = runs.filter(([name]) => name !== "crun" && name !== "runc");
  return judged.some(([, outcomes]) => [...outcomes.values()].some(({ result }) => result === "failed")) ? 1 : 0;
}

/** With --also, what another host has shown in place of what was skipped here. */
function withOthers(name: string, outcomes: Outcomes): Outcomes {
  if (values.also === undefined || !existsSync(values.also)) return outcomes;
  const others = JSON.parse(readFileSync(values.also, "utf8")) as Readonly<Record<string, Readonly<Record<string, Outcome>>>>;
  return merge(outcomes, new Map(Object.entries(others[name] ?? {})));
}

function writePage(runs: readonly (readonly [string, Outcomes])[]): void {
  const page = join(REPOSITORY, "docs/conformance.md");
  const mutants = existsSync(page) ? section(readFileSync(page, "utf8"), "Mutants") : undefined;
  writeFileSync(page, document(GROUPS, runs, mutants ?? "Not run yet (`make mutants`)."));
}

function isLeftOut(outcome: Outcome): outcome is Extract<Outcome, { result: "skipped" | "untested" }> {
  return outcome.result === "skipped" || outcome.result === "untested";
}

if (process.geteuid?.() !== 0) throw new Error("conformance needs root");
process.exit(values.inside ? await inside() : await reExec("--inside"));
