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
