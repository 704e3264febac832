/**
 * What every verb costs in instructions, system calls and memory, and how large the build is: against the record in ceilings.json, without a
 * clock. `make guard GUARD=--write` records anew (docs/performance.md).
 */
import { existsSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { aboveLimits, type Counts, comparable, compare } from "./ceilings.ts";
import { makeStep, measure, measureBuild } from "./measure.ts";
import { readRecords } from "./records.ts";
import { hostFacts, MEASURED } from "./setup.ts";

const NEEDED = ["/usr/bin/valgrind", "/usr/bin/strace", "/usr/bin/unshare"];
const missing = [...NEEDED.filter((path) => !existsSync(path)), ...(process.geteuid?.() === 0 ? [] : ["root"])];
const ofBuild = Object.keys(measureBuild());

describe("the build", () => {
  test("is within the limits", () => {
    expect(aboveLimits(measureBuild())).toEqual([]);
  });
});

describe.each(MEASURED)("with the cgroups: %s", (cgroups) => {
  const { counts: recorded, skipped } = comparable(readRecords(), hostFacts(cgroups));
  const why = skipped ?? (missing.length > 0 ? `missing: ${missing.join(", ")}` : undefined);

  test.skipIf(Object.keys(recorded).length === 0)("the build is as large as recorded", () => {
    const own = Object.fromEntries(Object.entries(recorded).filter(([name]) => /^size /.test(name)));
    expect(faults(own, measureBuild())).toEqual([]);
  });

  describe.skipIf(why !== undefined)(`the verbs${why === undefined ? "" : ` (not counted here: ${why})`}`, () => {
    let measured: Counts = {};
    beforeAll(async () => {
      measured = await measure(makeStep(), cgroups);
    });

    const names = Object.keys(recorded).filter((name) => !ofBuild.includes(name));
    test.each(names.length === 0 ? ["everything"] : names)("%s", (name) => {
      expect(faults(only(recorded, name), only(measured, name))).toEqual([]);
    });

    test("nothing is counted that is not recorded", () => {
      expect(Object.keys(measured).filter((name) => recorded[name] === undefined)).toEqual([]);
    });
  });
});

function faults(record: Counts, counts: Counts): string[] {
  return compare(record, counts).flatMap(({ name, fault }) => (fault === undefined ? [] : [`${name}: ${fault}`]));
}

function only(counts: Counts, name: string): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([key]) => key === name));
}
