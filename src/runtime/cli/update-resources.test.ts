import { describe, expect, it } from "vitest";
import { parseSize, updateResources } from "./update-resources.ts";

describe("sizes", () => {
  it.each([
    ["1048576", 1048576n],
    ["64m", 67108864n],
    ["64M", 67108864n],
    ["64MiB", 67108864n],
    ["64mb", 67108864n],
    ["1.5g", 1610612736n],
    ["100b", 100n],
    ["2 k", 2048n],
    ["1t", 1099511627776n],
    ["1p", 1125899906842624n],
    ["-1", -1n],
    ["0", 0n],
  ])("%s", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(["", "m", "-2", "64x", "1e3", "64mm", "0x10", "64 m b"])("%j is none", (text) => {
    expect(parseSize(text)).toBeUndefined();
  });
});

describe("flags of update", () => {
  it("name only what is given", () => {
    expect(updateResources({ memory: "64m", "cpu-quota": "-1", "pids-limit": "20", "cpuset-cpus": "0" })).toMatchObject({
      memory: { limit: 67108864n },
      cpu: { quota: -1n, cpus: "0" },
      pids: { limit: 20n },
    });
    expect(JSON.stringify(updateResources({}))).toBe('{"memory":{},"cpu":{}}');
  });

  it.each([
    [{ memory: "lots" }, 'invalid value for memory: "lots"'],
    [{ "cpu-share": "-5" }, 'invalid value for cpu-share: "-5"'],
    [{ "pids-limit": "ten" }, 'invalid value for pids-limit: "ten"'],
    [{ memory: "64m", "memory-swap": "32m" }, "memory+swap limit should be >= memory limit"],
  ])("%j is refused", (flags, message) => {
    expect(() => updateResources(flags)).toThrow(message);
  });
});
