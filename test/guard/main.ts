/**
 * Count, show beside the record, and with --write record: tsx test/guard/main.ts [--write] [--only host|"bare v2"]
 * Ends with 1 when something is not as recorded.
 */
import { parseArgs } from "node:util";
import { changeOf, comparable, compare } from "./ceilings.ts";
import { makeStep, measure, measureBuild } from "./measure.ts";
import { readRecords, writeRecord } from "./records.ts";
import { type Cgroups, hostFacts, MEASURED } from "./setup.ts";

const { write, only } = parseArgs({ options: { write: { type: "boolean", default: false }, only: { type: "string" } } }).values;
const chosen = MEASURED.filter((cgroups) => only === undefined || cgroups === only);
if (chosen.length === 0) throw new Error(`--only ${only}: one of ${MEASURED.join(", ")}`);
for (const cgroups of chosen) await show(cgroups);

async function show(cgroups: Cgroups): Promise<void> {
  const facts = hostFacts(cgroups);
  console.log(`\ncgroups: ${facts["cgroups"]}`);
  const { counts: recorded, skipped } = comparable(readRecords(), facts);
  if (skipped !== undefined) console.log(`no record of a host like this one: ${skipped}`);
  const counted = write || skipped === undefined ? await measure(makeStep(), cgroups) : {};
  const measured = { ...counted, ...measureBuild() };
  const verdicts = compare(recorded, measured);
  for (const { name, recorded: before, measured: now, fault } of verdicts) {
    const numbers = [before, now].map((count) => String(count ?? "-").padStart(9)).join(" ");
    console.log(`${name.padEnd(28)} ${numbers} ${changeOf(before, now).padStart(8)}  ${write ? "" : (fault ?? "")}`.trimEnd());
  }
  if (write) writeRecord(facts, measured);
  else if (verdicts.some(({ fault }) => fault !== undefined)) process.exitCode = 1;
}
