import { expect, test } from "vitest";
import type { NetworkStep } from "../../plan/index.ts";
import { bridgePortsOf, waysOf, withoutOldPlugins } from "./ways.ts";

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

test("the interface of the host and both addresses of the task's follow from the result of the plugin bridge, and from no other one", () => {
  const mac = "02:aa:00:00:00:01";
  const interfaces = [
    { name: "rt-1", mac },
    { name: "veth01234567", mac },
    { name: "eth0", mac: mac.toUpperCase(), sandbox: "/n" },
  ];
  const made = { ...RESULT, interfaces };
  const port = { port: "veth01234567", mac, addresses: ["10.64.0.2"] };
  expect(bridgePortsOf([step({ relays: false }), step({ relays: true }), step({})], [made, made, made])).toEqual([
    { ...port, isRelay: false },
    { ...port, isRelay: true },
    { ...port, isRelay: true },
  ]);
  const unusual = [
    RESULT,
    { ...made, interfaces: interfaces.slice(0, 2) },
    { ...made, interfaces: [...interfaces, { name: "more" }] },
    { ...made, interfaces: [...interfaces.slice(0, 2), { name: "eth0", mac: "x drop", sandbox: "/n" }] },
  ];
  for (const one of unusual) expect(bridgePortsOf([step({})], [one])).toEqual([]);
  expect(bridgePortsOf([step({ plugins: [{ type: "macvlan" }] })], [made])).toEqual([]);
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
