import { describe, expect, it } from "vitest";
import { cpuList, nodeList } from "./number-list.ts";

describe("a list of CPUs", () => {
  it.each([
    ["", []],
    ["0", [0]],
    ["0-3,7", [0, 1, 2, 3, 7]],
    [" 5 , 1-2,2,", [1, 2, 5]],
    ["8191", [8191]],
  ])("%j", (text, cpus) => {
    expect(cpuList(text, "")).toEqual(cpus);
  });

  it.each(["a", "3-1", "-1", "0-", "9000", "1-9000", "0x1", ",", " ", "1 2", "99999999"])("%j is none", (text) => {
    expect(() => cpuList(text, "/at")).toThrow(
      expect.objectContaining({
        message: `"${text}" is not a list of CPUs`,
        code: "config-invalid",
        details: { pointer: "/at", finding: "list-syntax" },
      }),
    );
  });
});

describe("a list of memory nodes", () => {
  it("ends where the kernel's numbers end", () => {
    expect(nodeList("1023,0-1", "")).toEqual([0, 1, 1023]);
    expect(() => nodeList("1024", "/at")).toThrow('"1024" is not a list of memory nodes');
  });
});
