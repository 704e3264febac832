import { expect, it } from "vitest";
import type { SpecResources } from "../spec/index.ts";
import { deriveResources } from "./resources.ts";
import type { Warning } from "./warnings.ts";

function derive(resources: SpecResources) {
  const warnings: Warning[] = [];
  const config = deriveResources(resources, (code, pointer, message) => warnings.push({ code, pointer, message }));
  return { config, warnings };
}

const NOTHING = { hugepageLimits: [], rdma: {}, unified: {}, devices: [] };

it("asks for nothing when nothing is asked", () => {
  expect(derive({}).config).toEqual(NOTHING);
  expect(derive({ memory: null, cpu: null, pids: null, blockIO: null, network: null, unified: null }).config).toEqual(NOTHING);
  expect(derive({ pids: { limit: null } }).config).toEqual(NOTHING);
});

it("reads zero as absent where zero is no value", () => {
  const { config } = derive({
    memory: { limit: 0, swap: 0, swappiness: 0 },
    cpu: { shares: 0, quota: 0, period: 0, cpus: "", idle: 0, burst: 0 },
    pids: { limit: 0 },
  });
  expect(config.memory).toEqual({ swappiness: 0n });
  expect(config.cpu).toEqual({ idle: 0n, burst: 0n });
  expect(config.pids).toEqual({ limit: 0n });
});

it("keeps numbers exact", () => {
  const { config } = derive({
    memory: { limit: 9223372036854775807n, swap: -1 },
    cpu: { shares: 18446744073709551615n, quota: -1, realtimeRuntime: 950000 },
    hugepageLimits: [{ pageSize: "2MB", limit: 18446744073709551615n }],
    blockIO: { throttleReadBpsDevice: [{ major: 8, minor: 0, rate: 18446744073709551615n }] },
  });
  expect(config.memory).toEqual({ limit: 9223372036854775807n, swap: -1n });
  expect(config.cpu).toEqual({ shares: 18446744073709551615n, quota: -1n, realtimeRuntime: 950000n });
  expect(config.hugepageLimits).toEqual([{ pageSize: "2MB", limit: 18446744073709551615n }]);
  expect(config.blockIO?.throttleReadBpsDevice).toEqual([{ major: 8, minor: 0, rate: 18446744073709551615n }]);
});

it("passes on block IO, network, rdma and unified", () => {
  const { config } = derive({
    blockIO: { weight: 500, leafWeight: 0, weightDevice: [{ major: 8, minor: 0, weight: 200 }] },
    network: { classID: 1048577, priorities: [{ name: "eth0", priority: 5 }] },
    rdma: { mlx: { hcaHandles: 0, hcaObjects: null } },
    unified: { "memory.high": "1000000" },
  });
  expect(config.blockIO).toMatchObject({ weight: 500, weightDevice: [{ major: 8, minor: 0, weight: 200 }], throttleWriteIOPSDevice: [] });
  expect(config.network).toEqual({ classID: 1048577, priorities: [{ name: "eth0", priority: 5 }] });
  expect(config.rdma).toEqual({ mlx: { hcaHandles: 0 } });
  expect(config.unified).toEqual({ "memory.high": "1000000" });
});

it("turns absent parts of a device rule into wildcards", () => {
  expect(derive({ devices: [{ allow: true }, { allow: false, type: "b", major: 8, minor: null, access: "w" }] }).config.devices).toEqual([
    { from: "/linux/resources/devices/0", allow: true, type: "a", major: -1, minor: -1, access: "rwm" },
    { from: "/linux/resources/devices/1", allow: false, type: "b", major: 8, minor: -1, access: "w" },
  ]);
});

it("warns about limits of kernel memory", () => {
  const { config, warnings } = derive({ memory: { kernel: 1, kernelTCP: 0 } });
  expect(config.memory).toEqual({});
  expect(derive({ memory: { kernelTCP: 4096 } })).toMatchObject({ config: { memory: { kernelTCP: 4096n } }, warnings: [] });
  expect(warnings.map(({ pointer }) => pointer)).toEqual(["/linux/resources/memory/kernel"]);
});
