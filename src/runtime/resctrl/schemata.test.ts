import { describe, expect, it } from "vitest";
import { findResctrl, firstDifference, parseSchemata } from "./schemata.ts";

const line = (place: string, type = "resctrl", root = "/") =>
  `36 25 0:31 ${root} ${place} rw,relatime shared:9 - ${type} ${type} rw,mba_MBps\n`;

it("finds where resctrl is mounted, at its usual place first", () => {
  expect(findResctrl("")).toBeUndefined();
  expect(findResctrl(line("/sys/fs/resctrl", "tmpfs"))).toBeUndefined();
  expect(findResctrl(line("/mnt/resctrl", "xfs") + line("/a\\040b"))).toBe("/a b");
  expect(findResctrl(line("/a") + line("/sys/fs/resctrl") + line("/b"))).toBe("/sys/fs/resctrl");
});

it("passes a bound group over: not everything is there", () => {
  expect(findResctrl(line("/sys/fs/resctrl", "resctrl", "/group"))).toBeUndefined();
});

const ACTUAL = ["    MB:0=100;1= 30", "    L3:0=00ff;1=000f", "L3CODE:0=f"];
const difference = (wanted: string[], granularity = 1n, actual = ACTUAL) =>
  firstDifference(parseSchemata(wanted), parseSchemata(actual), granularity);

describe("schemata", () => {
  it("are read with their alignment, and the last line of a resource wins", () => {
    expect(parseSchemata(["  L3:0=ff;1=c0", "", "L3:1= f"])).toEqual(
      new Map([
        [
          "L3",
          new Map([
            ["0", "ff"],
            ["1", "f"],
          ]),
        ],
      ]),
    );
  });

  it.each<[string[], bigint]>([
    [["L3:0=ff;1=f"], 1n],
    [["L3:1=0xF;0=FF"], 1n],
    [["L3:00=ff"], 1n],
    [["MB:0=100"], 1n],
    [["MB:1=21"], 10n],
    [["MB:0=5", "MB:0=100"], 1n],
    [["L3CODE:0=f", "L3:1=f"], 1n],
    [[], 1n],
  ])("%j is what the group has", (wanted, granularity) => {
    expect(difference(wanted, granularity)).toBeUndefined();
  });

  it.each<[string[], string, bigint]>([
    [["L3:0=fe"], "L3", 1n],
    [["L3:2=ff"], "L3", 1n],
    [["L3:0=ff", "MB:1=31"], "MB", 10n],
    [["MB:1=21"], "MB", 1n],
    [["L2:0=ff"], "L2", 1n],
    [["L3:0=gg"], "L3", 1n],
    [["MB:0=0x64"], "MB", 1n],
    [["L3"], "L3", 1n],
    [["nonsense"], "nonsense", 1n],
    [["L3:"], "L3", 1n],
  ])("%j is not, because of %s", (wanted, resource, granularity) => {
    expect(difference(wanted, granularity)).toBe(resource);
  });

  it("a slow bandwidth is decimal too", () => {
    expect(difference(["SMBA:0=64"], 8n, ["SMBA:0=64"])).toBeUndefined();
    expect(difference(["SMBA:0=100"], 1n, ["SMBA:0=256"])).toBe("SMBA");
  });
});
