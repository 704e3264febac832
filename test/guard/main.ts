/**
 * Count, show beside the record, and with --write record: tsx test/guard/main.ts [--write]
 * Ends with 1 when something is not as recorded.
 */
import { comparable, compare } from "./ceilings.ts";
import { makeStep, measure, measureBuild } from "./measure.ts";
import { readRecords, writeRecord } from "./records.ts";
import { hostFacts } from "./scene.ts";

const facts = hostFacts();
const { counts: recorded, skipped } = comparable(readRecords(), facts);
const writes = process.argv.includes("--write");
if (skipped !== undefined) console.log(`no record of a host like this one: ${skipped}`);
const measured = writes || skipped === undefined ? { ...(await measure(makeStep())), ...measureBuild() } : measureBuild();
const verdicts = compare(recorded, measured);
for (const { name, recorded: before, measured: now, fault } of verdicts)
  console.log(
    `${name.padEnd(28)} ${String(before ?? "-").padStart(9)} ${String(now ?? "-").padStart(9)}  ${writes ? "" : (fault ?? "")}`.trimEnd(),
  );
if (writes) writeRecord(facts, measured);
else if (verdicts.some(({ fault }) => fault !== undefined)) process.exitCode = 1;
