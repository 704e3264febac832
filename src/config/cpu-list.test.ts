import { describe, expect, it } from "vitest";
import { cpuList } from "./cpu-list.ts";

describe("a list of CPUs", () => {
  it.each([
    ["", []],
    ["0", [0]],
    ["0-3,7", [0, 1, 2, 3, 7]],
    [" 5 , 1-2,2", [1, 2, 5]],
  ])("%j", (text, cpus) => {
    expect(cpuList(text, "")).toEqual(cpus);
  });

  it.each(["a", "3-1", "-1", "0-", "9000", "1-9000", "0x1"])("%j is none", (text) => {
    expect(() => cpuList(text, "/at")).toThrow(`"${text}" is not a list of CPUs`);
  });
});
