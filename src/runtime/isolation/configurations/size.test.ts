import { describe, expect, it } from "vitest";
import type { SpecResources } from "../../spec/index.ts";
import { DEFAULT_SETTINGS } from "../asked/settings.ts";
import { sizeOf } from "./size.ts";

const MIB = 1024 ** 2;
const size = (resources?: SpecResources) => sizeOf(resources, DEFAULT_SETTINGS);

describe("K36: the size of a machine", () => {
  it("is the operator's without limits", () => {
    expect(size()).toEqual({ cpus: 1, memoryMiB: 256, hostBytes: (256 + 32 + 160) * MIB });
    expect(size({ memory: { limit: -1 }, cpu: { quota: -1, period: 100_000 } })).toEqual(size());
    expect(size({ memory: { limit: 0x7fff_ffff_ffff_f000n } })).toEqual(size());
  });

  it.each<[string, SpecResources, number, number]>([
    ["one CPU for half of one", { cpu: { quota: 50_000, period: 100_000 } }, 1, 256],
    ["two for one and a half", { cpu: { quota: 150_000, period: 100_000 } }, 2, 256],
    ["one for a quota without a period", { cpu: { quota: 400_000 } }, 1, 256],
    ["the limit and what the guest itself needs", { memory: { limit: 64 * MIB } }, 1, 160],
    ["an even number of MiB", { memory: { limit: 64 * MIB + 1 } }, 1, 162],
    ["the least that a guest runs in", { memory: { limit: 1 } }, 1, 128],
    ["exact numbers of 64 bits", { memory: { limit: 1n << 30n }, cpu: { quota: 200_000, period: 100_000n } }, 2, 1120],
  ])("is %s", (_, resources, cpus, memoryMiB) => {
    expect(size(resources)).toMatchObject({ cpus, memoryMiB });
  });

  it.each<[object, SpecResources, number, number]>([
    [{ cpus: 2 }, {}, 2, 256],
    [{ cpus: 0.5 }, { cpu: { quota: 50_000, period: 100_000 } }, 1, 256],
    [{ cpus: 0.5 }, { cpu: { quota: 60_000, period: 100_000 } }, 2, 256],
    [{ cpus: 4, cpusMost: 3 }, {}, 3, 256],
    [{ memoryMiB: 1024 }, {}, 1, 1024],
    [{ memoryMiB: 1024 }, { memory: { limit: 64 * MIB } }, 1, 1088],
    [{ memoryMiB: 1 }, { memory: { limit: 64 * MIB } }, 1, 160],
  ])("K10: of its own %j, beside the limits %j", (own, resources, cpus, memoryMiB) => {
    expect(sizeOf(resources, { ...DEFAULT_SETTINGS, own })).toMatchObject({ cpus, memoryMiB });
  });

  it("is refused with the number above what the operator allows", () => {
    const small = { ...DEFAULT_SETTINGS, memoryMostMiB: 512, cpusMost: 2 };
    const memory: SpecResources = { memory: { limit: 1024 * MIB } };
    expect(() => sizeOf(memory, small)).toThrow("a machine of 1120 MiB: the operator allows at most 512 MiB");
    expect(() => sizeOf({ cpu: { quota: 300, period: 100 } }, small)).toThrow("a machine of 3 CPUs: the operator allows at most 2");
  });
});
