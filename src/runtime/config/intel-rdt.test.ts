import { expect, it } from "vitest";
import { deriveIntelRdt } from "./intel-rdt.ts";

const warnings: string[] = [];
const derive = (intelRdt: Parameters<typeof deriveIntelRdt>[0]) => {
  warnings.length = 0;
  return deriveIntelRdt(intelRdt, (code, pointer) => void warnings.push(`${code} ${pointer}`));
};

it("writes the cache first, the bandwidth then, and what is given line by line last", () => {
  const schemata = ["L2:0=f", "", "MB:0=30"];
  expect(derive({ closID: "gold", schemata, memBwSchema: "MB:0=20", l3CacheSchema: "L3:0=ff", enableMonitoring: true })).toEqual({
    closId: "gold",
    schemata: ["L3:0=ff", "MB:0=20", "L2:0=f", "MB:0=30"],
    monitoring: true,
  });
});

it("takes an empty object for a group of the container's own", () => {
  expect(derive({})).toEqual({ schemata: [], monitoring: false });
  expect(derive({ closID: "", l3CacheSchema: "", schemata: null, enableMonitoring: null, enableCMT: false })).toEqual(derive({}));
  expect(warnings).toEqual([]);
});

it("tells of the fields that the specification has given up", () => {
  derive({ enableCMT: true, enableMBM: true });
  expect(warnings).toEqual(["intel-rdt-ignored /linux/intelRdt/enableCMT", "intel-rdt-ignored /linux/intelRdt/enableMBM"]);
});
