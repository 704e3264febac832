import { expect, test } from "vitest";
import type { TaskWays } from "./filter.ts";
import { countRules, incompleteChain, natRemoval, natRules } from "./iptables-nat.ts";

const ways = (ports: TaskWays["ports"]): TaskWays => ({ network: "n", bridge: "rt-1", range: "10.64.0.2/20", ports });
const port = (host: number, container = 80, some: object = {}) => ({
  host,
  container,
  protocol: "tcp" as const,
  address: undefined,
  ...some,
});
const OWN = String.raw`-m comment --comment "name: \"n\" id: \"a\""`;
const DNAT = String.raw`-m comment --comment "dnat name: \"n\" id: \"a\""`;
const [MASQ, DN] = ["CNI-3b564edb0c2e3b3d1e7a7c1e", "CNI-DN-3b564edb0c2e3b3d1e7a7"];

test("a task behind a bridge: its packets leave under an address of the host, but for those to its neighbours; E70: ports of the host lead to it, also from loopback", () => {
  const lines = natRules(ways([port(8080), port(443, 443, { address: "192.0.2.1" })]), "a").map((line) =>
    line.replaceAll(/CNI-(DN-)?[0-9a-f]{21,}/g, (_, dnat) => (dnat === undefined ? MASQ : DN)),
  );
  expect(lines).toEqual([
    `:${MASQ} - [0:0]`,
    `-A ${MASQ} -d 10.64.0.2/20 ${OWN} -j ACCEPT`,
    `-A ${MASQ} ! -d 224.0.0.0/4 ${OWN} -j MASQUERADE`,
    `-A POSTROUTING -s 10.64.0.2 ${OWN} -j ${MASQ}`,
    `:${DN} - [0:0]`,
    `-A ${DN} -p tcp --dport 8080 ${DNAT} -j DNAT --to-destination 10.64.0.2:80`,
    `-A ${DN} -p tcp -d 192.0.2.1 --dport 443 ${DNAT} -j DNAT --to-destination 10.64.0.2:443`,
    `-A PREROUTING -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-A OUTPUT -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-I POSTROUTING -s 10.64.0.2/20 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
    `-I POSTROUTING -s 127.0.0.0/8 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
  ]);
  expect(natRemoval(lines)).toEqual([
    `-D POSTROUTING -s 10.64.0.2 ${OWN} -j ${MASQ}`,
    `-D PREROUTING -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-D OUTPUT -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-D POSTROUTING -s 10.64.0.2/20 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
    `-D POSTROUTING -s 127.0.0.0/8 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
    ...[`-F ${MASQ}`, `-F ${DN}`, `-X ${MASQ}`, `-X ${DN}`],
  ]);
});

test("a rule takes fifteen ports of one protocol; what has no ports has no way in", () => {
  const ports = Array.from({ length: 16 }, (_, at) => port(8000 + at));
  const jumps = (all: TaskWays["ports"]) => natRules(ways(all), "a").filter((line) => line.includes("--dports"));
  expect(jumps(ports)).toHaveLength(4);
  expect(jumps(["192.0.2.1", "192.0.2.2"].map((address) => port(80, 80, { address })))).toEqual([
    expect.stringContaining("--dports 80 "),
    expect.stringContaining("--dports 80 "),
  ]);
  expect(jumps([port(53), port(53, 53, { protocol: "udp" })]).map((line) => line.split(" ").slice(1, 4).join(" "))).toEqual([
    ...["PREROUTING -p tcp", "PREROUTING -p udp", "OUTPUT -p tcp", "OUTPUT -p udp"],
  ]);
  expect(natRules(ways([]), "a")).toHaveLength(4);
});

test("rules that somebody has taken away are missed, in whatever form iptables prints the others", () => {
  const lines = natRules(ways([port(8080)]), "a");
  const saved = lines
    .filter((line) => !line.startsWith(":"))
    .map((line) => line.replace(/^-I/, "-A").replace("10.64.0.2 ", "10.64.0.2/32 "));
  expect(incompleteChain(countRules(saved), lines)).toBeUndefined();
  expect(incompleteChain(countRules(saved.filter((line) => !line.includes("PREROUTING"))), lines)).toBe("PREROUTING");
  // Those of another task do not count.
  const others = saved.map((line) => line.replace(String.raw`id: \"a\"`, String.raw`id: \"b\"`));
  expect(incompleteChain(countRules(others), lines)).toMatch(/^CNI-/);
});
