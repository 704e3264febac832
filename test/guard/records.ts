/** ceilings.json: one record for each kind of host that was counted on. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Counts, differences, type Facts, type Recording } from "./ceilings.ts";

const FILE = join(import.meta.dirname, "ceilings.json");

export function readRecords(): readonly Recording[] {
  return JSON.parse(readFileSync(FILE, "utf8")) as Recording[];
}

/** In the place of the one of this kind of host. */
export function writeRecord(facts: Facts, counts: Counts): void {
  const others = readRecords().filter((record) => differences(record.facts, facts).length > 0);
  writeFileSync(FILE, `${JSON.stringify([...others, { facts, counts }], null, 2)}\n`);
}
