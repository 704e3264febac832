import { describe, expect, test } from "vitest";
import {
  pageSizeName,
  parseBlkio,
  parseCpuModes,
  parseIoStat,
  parseKeyed,
  parseList,
  parseNumber,
  parseNumbers,
  parsePressure,
} from "./parse.ts";
import { UNLIMITED } from "./types.ts";

test.each([
  ["42\n", 42n],
  ["18446744073709551615\n", UNLIMITED],
  ["max\n", UNLIMITED],
  ["-1\n", -1n],
  ["", 0n],
  [undefined, 0n],
  ["nonsense", 0n],
])("number %j", (text, value) => {
  expect(parseNumber(text)).toBe(value);
});

test("keyed lines, without those that are none", () => {
  expect(parseKeyed("nr_periods 5\nthrottled_time 18446744073709551615\n\nbroken\nx y\nper node 3\n")).toEqual({
    nr_periods: 5n,
    throttled_time: UNLIMITED,
  });
  expect(parseKeyed(undefined)).toEqual({});
});

test("numbers with blanks between them", () => {
  expect(parseNumbers("12 0 345 \n")).toEqual([12n, 0n, 345n]);
  expect(parseNumbers(undefined)).toEqual([]);
});

test.each([
  ["0-3\n", [0, 1, 2, 3]],
  ["0,2-3,7\n", [0, 2, 3, 7]],
  ["5\n", [5]],
  ["\n", []],
  [undefined, []],
])("list %j", (text, list) => {
  expect(parseList(text)).toEqual(list);
});

test("cpuacct.usage_all", () => {
  expect(parseCpuModes("cpu user system\n0 10 20\n1 30 40 50\n")).toEqual({ user: [10n, 30n], kernel: [20n, 40n] });
  expect(parseCpuModes(undefined)).toEqual({ user: [], kernel: [] });
});

test("blkio lines with and without an operation, not the totals", () => {
  expect(parseBlkio("8:0 Read 5\n8:0 Total 5\n259:1 7\nTotal 5\n")).toEqual([
    { major: 8n, minor: 0n, op: "Read", value: 5n },
    { major: 8n, minor: 0n, op: "Total", value: 5n },
    { major: 259n, minor: 1n, op: "", value: 7n },
  ]);
});

test("io.stat, for the keys that are asked for", () => {
  const text = "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n8:16 \n253:0 rbytes=7 wbytes=x\n(unknown) rbytes=1\n";
  expect(parseIoStat(text, { rbytes: "Read", wbytes: "Write" })).toEqual([
    { major: 8n, minor: 0n, op: "Read", value: 1n },
    { major: 8n, minor: 0n, op: "Write", value: 2n },
    { major: 253n, minor: 0n, op: "Read", value: 7n },
  ]);
  expect(parseIoStat(undefined, { rbytes: "Read" })).toEqual([]);
});

describe("pressure", () => {
  const some = "some avg10=1.50 avg60=0.20 avg300=0.00 total=12345\n";
  const nothing = { avg10: 0, avg60: 0, avg300: 0, total: 0n };

  test("both lines", () => {
    expect(parsePressure(`${some}full avg10=100.00 avg60=0.00 avg300=0.01 total=18446744073709551615\n`)).toEqual({
      some: { avg10: 1.5, avg60: 0.2, avg300: 0, total: 12345n },
      full: { avg10: 100, avg60: 0, avg300: 0.01, total: UNLIMITED },
    });
  });
  test("the CPU of old kernels has no second one", () => {
    expect(parsePressure(some)?.full).toEqual(nothing);
  });
  test("absent", () => {
    expect(parsePressure(undefined)).toBeUndefined();
  });
});

test.each([
  ["hugepages-64kB", "64KB"],
  ["hugepages-2048kB", "2MB"],
  ["hugepages-32768kB", "32MB"],
  ["hugepages-1048576kB", "1GB"],
  ["hugepages-16777216kB", "16GB"],
  ["hugepages-x", undefined],
  ["other", undefined],
])("%s is %s", (directory, name) => {
  expect(pageSizeName(directory)).toBe(name);
});
