import { expect, test } from "vitest";
import { parseTasks, renderFinding, taskSchema, warningsOf } from "../index.ts";

test("a port of the host may be published on several of its addresses, and once on each", () => {
  const told = (...ports: readonly object[]) => {
    const text = JSON.stringify({ name: "t", network: { mode: "bridge", ports }, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
    return parseTasks(text).findings.map((one) => renderFinding(one, "f").replace(/^f:\d+:\d+: /, ""));
  };
  const at = (address?: string, more: object = {}) => ({
    container: 80,
    host: 8080,
    ...(address === undefined ? {} : { address }),
    ...more,
  });
  expect(told(at("127.0.0.1"), at("192.0.2.1"), at(undefined, { protocol: "udp" }))).toEqual([]);
  for (const twice of [
    [at("127.0.0.1"), at("127.0.0.1")],
    [at("127.0.0.1"), at()],
    [at("0.0.0.0"), at("127.0.0.1")],
    [at(), at()],
  ])
    expect(told(...twice)).toEqual(["/network/ports/1: 8080/tcp is there twice"]);
});

test("a network on an interface of the host has modes of its type, no ports of the host, and no firewall of it", () => {
  const told = (network: object) => {
    const text = JSON.stringify({
      name: "t",
      network: { name: "lan", ...network },
      containers: [{ name: "c", rootfs: "/r", command: "x" }],
    });
    return parseTasks(text).findings.map((one) => renderFinding(one, "f").replace(/^f:\d+:\d+: /, ""));
  };
  const link = { type: "ipvlan", parent: "eth0" };
  expect(told({ link: { ...link, mode: "l3s" } })).toEqual([]);
  expect(told({ link: { ...link, mode: "vepa" }, ports: [{ container: 80 }] })).toEqual([
    "/network/link/mode: is none of ipvlan: l2, l3, l3s",
    "/network/ports: no port of the host leads to a network of ipvlan: name a bridge first",
  ]);
  expect(told({ link, mac: "02:00:00:00:00:05" })).toEqual(["/network/mac: interfaces of ipvlan have the address of their parent"]);
  const warned = taskSchema.parse({ name: "t", network: { name: "lan", link }, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
  expect(warningsOf([warned])).toEqual([expect.stringMatching(/^t: network: lan \(ipvlan\): no firewall rule of this host/)]);
});

test("a task with a fallback asks for nothing that only a network gives", () => {
  const told = (network: object, container: object = {}) => {
    const containers = [{ name: "c", rootfs: "/r", command: "x", ...container }];
    const text = JSON.stringify({ name: "t", network: { fallback: "none", ...network }, containers });
    return parseTasks(text).findings.map((one) => renderFinding(one, "f").replace(/^f:\d+:\d+: /, ""));
  };
  expect(told({ dns: { servers: ["192.0.2.53"] }, hosts: [{ name: "db", address: "192.0.2.5" }] })).toEqual([]);
  expect(told({ mode: "none" })).toEqual(["/network/fallback: a fallback needs the mode bridge, and the network's is none"]);
  for (const [asked, what] of [
    [{ name: "shop" }, "a network with a name"],
    [{ ports: [{ container: 80 }] }, "a port of the host"],
    [{ redirects: [{ port: 80, to: 8080 }] }, "a redirected port"],
    [{ proxy: { user: 7, egress: { port: 15001 } } }, "a proxy"],
    [{ hosts: [{ name: "host", address: "host-gateway" }] }, "the address of the host (host-gateway)"],
  ] as const)
    expect(told(asked)).toEqual([`/network/fallback: ${what} needs the network: there is no fallback`]);
  expect(told({}, { addressEnv: ["IP"] })).toEqual([
    "/containers/0/addressEnv: needs the network, which the task does not have everywhere: leave out network.fallback",
  ]);
});
