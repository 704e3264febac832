/**
 * `make test-faults`: a kill and errors at every fault point of every verb of build/testing/runt; then bin/runt delete --force must leave
 * everything as it was (test/faults/case.ts). Needs root.
 *   --scenario TEXT  scenarios whose name contains it (scenarios.ts); more, separated by commas
 *   --only TEXT      faults whose description contains it ("kill in init before mount")
 *   --sample N       at most N of each scenario, drawn by --seed
 *   --workers N      at a time (default 2)
 *   --write          the table into docs/security.md
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { REPOSITORY } from "../support/programs.ts";
import { newOutcome, type Outcome, runTask } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    scenario: { type: "string", default: "" },
    only: { type: "string", default: "" },
    sample: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
    write: { type: "boolean", default: false },
  },
});

const names = SCENARIOS.map(({ name }) => name).filter((name) => values.scenario.split(",").some((text) => name.includes(text)));
const parts = Number(values.workers);
const choice = { scenarios: names, sample: Number(values.sample), seed: Number(values.seed), only: values.only, parts };
const outcomes = new Map<string, Outcome>();
const start = Date.now();
await Promise.all(
  Array.from({ length: parts }, (_, part) =>
    runTask({ ...choice, part, cgroups: `runt-faults-${process.pid}-${part}` }, outcomes, (line) => console.log(line)),
  ),
);

const all = newOutcome();
const rows = [...outcomes].map(([name, { points, tried, missed, problems }]) => {
  all.points += points;
  all.tried += tried;
  all.missed += missed;
  all.problems.push(...problems);
  return `| ${name} | ${points} | ${tried} | ${missed} | ${problems.length} |`;
});
const total = `| **all** | **${all.points}** | **${all.tried}** | **${all.missed}** | **${all.problems.length}** |`;
const table = ["| scenario | points | faults tried | not reached | problems |", "| --- | --: | --: | --: | --: |", ...rows, total].join(
  "\n",
);
console.log(`\n${table}\n`);
if (values.write) {
  const page = join(REPOSITORY, "docs/security.md");
  writeFileSync(page, readFileSync(page, "utf8").replace(/(<!-- faults -->\n)[\s\S]*?(<!-- \/faults -->)/, `$1\n${table}\n\n$2`));
}
const seconds = ((Date.now() - start) / 1000).toFixed(0);
console.log(`\n${all.points} points, ${all.tried} faults, ${all.missed} not reached, ${all.problems.length} problems, ${seconds} seconds`);
process.exit(all.problems.length === 0 && all.tried > 0 ? 0 : 1);
