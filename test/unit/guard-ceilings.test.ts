import { describe, expect, test } from "vitest";
import { aboveLimits, comparable, compare } from "../guard/ceilings.ts";

const RECORD = { "instructions create": 7_000_000, "calls state": 32, "size binary": 5_000_000 };
const FACTS = { architecture: "x64", compiler: "12", kernel: "6.1" };

const faults = (measured: Record<string, number>) =>
  compare(RECORD, { ...RECORD, ...measured }).flatMap(({ name, fault }) => (fault === undefined ? [] : [`${name}: ${fault}`]));

describe("the guard", () => {
  test("is silent about what is as recorded, and about three parts in a hundred", () => {
    expect(faults({})).toEqual([]);
    expect(faults({ "instructions create": 7_200_000, "size binary": 4_860_000 })).toEqual([]);
  });

  test.each([
    ["instructions create", 7_220_000, "+3.1 %"],
    ["calls state", 33, "+3.1 %"],
    ["size binary", 5_200_000, "+4.0 %"],
  ])("%s fails above: %d", (name, measured, change) => {
    expect(faults({ [name]: measured })).toEqual([`${name}: ${expect.any(String)}`].map(() => expect.stringContaining(change)));
  });

  test("a single call more of a verb with few fails", () => {
    expect(faults({ "calls state": RECORD["calls state"] + 1 })).toHaveLength(1);
  });

  test("what has become less has to be recorded", () => {
    expect(faults({ "instructions create": 6_000_000 })).toEqual([expect.stringMatching(/-14\.3 %\): better; record it/)]);
  });

  test("what is not recorded, and what is not measured, fails", () => {
    expect(compare({}, { "calls run": 1 })[0]?.fault).toMatch(/not recorded/);
    expect(compare({ "calls run": 1 }, {})[0]?.fault).toMatch(/not measured/);
  });

  test("there are limits above the record", () => {
    expect(aboveLimits({ "size binary": 9_000_001, "calls run": 10_000_000 })).toEqual(["size binary: 9000001, at most 9000000"]);
  });
});

describe("a host", () => {
  const records = [{ facts: FACTS, counts: RECORD }];

  test("like the recorded one is held against everything", () => {
    expect(comparable(records, FACTS)).toEqual({ counts: RECORD });
  });

  test("with another kernel only against the sizes, and says so", () => {
    expect(comparable(records, { ...FACTS, kernel: "6.12" })).toEqual({
      counts: { "size binary": 5_000_000 },
      skipped: "kernel: 6.12, not 6.1",
    });
  });

  test("with another compiler against nothing", () => {
    expect(comparable(records, { ...FACTS, compiler: "14" })).toEqual({ counts: {}, skipped: "compiler: 14, not 12" });
    expect(comparable([], FACTS)).toEqual({ counts: {}, skipped: "nothing is recorded" });
  });
});
