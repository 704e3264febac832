import { expect, test } from "vitest";
import type { NetworkStep } from "../../plan/index.ts";
import { waysOf, withoutOldPlugins } from "./ways.ts";

const step = (some: Partial<NetworkStep>): NetworkStep => ({
  ...{ name: "n", interface: "eth0", plugins: [{ type: "bridge", bridge: "rt-1" }], needsAddress: true },
  ...some,
});
const RESULT = { cniVersion: "1.0.0", ips: [{ address: "10.64.0.2/20" }] };
const port = { host: 8080, container: 80, protocol: "tcp" as const, address: undefined };

test("a task has ways by each bridge with a way out; ports of IPv6 addresses lead nowhere, because it has no such address", () => {
  const steps = [step({ nat: [port, { ...port, address: "::1" }] }), step({}), step({ nat: [], plugins: [{ type: "macvlan" }] })];
  expect(waysOf(steps, [RESULT, RESULT, RESULT])).toEqual([{ network: "n", bridge: "rt-1", range: "10.64.0.2/20", ports: [port] }]);
  expect(waysOf([step({ nat: [] })], [{ cniVersion: "1.0.0", ips: [] }])).toEqual([]);
});

test("what earlier versions have left to plugins is the engine's: ports of portmap, and the way out of ipMasq", () => {
  const { protocol: _, ...untold } = port;
  const mapped = { portMappings: [{ hostPort: 53, containerPort: 5353, protocol: "udp", hostIP: "127.0.0.1" }] };
  const old = [
    step({
      nat: [],
      plugins: [
        { type: "bridge", bridge: "rt-1" },
        { type: "portmap", runtimeConfig: mapped },
      ],
    }),
    step({ plugins: [{ type: "bridge", bridge: "rt-2", ipMasq: true, isGateway: true }] }),
    step({ nat: [untold as typeof port] }),
    step({}),
  ];
  expect(withoutOldPlugins(old)).toEqual([
    step({ nat: [{ host: 53, container: 5353, protocol: "udp", address: "127.0.0.1" }] }),
    step({ nat: [], plugins: [{ type: "bridge", bridge: "rt-2", isGateway: true }] }),
    step({ nat: [port] }),
    step({}),
  ]);
});
