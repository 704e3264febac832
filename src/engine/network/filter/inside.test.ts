import { describe, expect, test } from "vitest";
import type { ReachedService, TaskRules } from "../../plan/index.ts";
import { INSIDE_IPTABLES } from "./inside-iptables.ts";
import { beforeServices, INSIDE_NFT } from "./inside-nft.ts";
import { removalOfChain } from "./nft-chains.ts";

const PROXY: TaskRules = {
  redirects: [],
  egress: { user: 1337, port: 15_001, addresses: [], ignored: ["10.1.2.3/16"] },
  ingress: { port: 15_000, ports: [80, 443] },
};
const SOME: TaskRules = { redirects: [], egress: { user: 1337, port: 15_001, addresses: ["127.255.0.0/16"], ignored: [] } };
const REDIRECTS: TaskRules = { redirects: [{ port: 80, to: 8080, protocol: "udp" }] };
const TRANSPARENT: TaskRules = { redirects: [], transparent: { port: 15_001, addresses: ["192.0.2.0/24"] } };
const SERVICES: readonly ReachedService[] = [
  { address: "198.18.0.9", ports: [{ port: 80, protocol: "tcp", to: ["10.64.0.1:8080", "10.64.0.3:8080"] }] },
  { address: "198.18.0.10", ports: [] },
];

describe("nft", () => {
  const lines = (text: string) => text.trimEnd().split("\n");
  /** Without the table, whose name is the same in all lines. */
  const rules = (text: string) => lines(text).flatMap((line) => /^add rule ip runt-\w+ (.+)$/.exec(line)?.[1] ?? []);

  test("E71: ports of the addresses of a task that lead to others of it, but not on loopback", () => {
    expect(lines(INSIDE_NFT.task(REDIRECTS))).toEqual([
      "add table ip runt-task",
      "add chain ip runt-task prerouting { type nat hook prerouting priority -106; policy accept; }",
      "add chain ip runt-task output { type nat hook output priority -106; policy accept; }",
      "flush table ip runt-task",
      "add rule ip runt-task prerouting meta l4proto udp th dport 80 fib daddr type local redirect to :8080",
      "add rule ip runt-task output meta l4proto udp th dport 80 ip daddr != 127.0.0.0/8 fib daddr type local redirect to :8080",
    ]);
  });

  test("T20, T21, T23: the proxy's own connections, and those that are ignored, are not led to it; a range is compared with its first address", () => {
    expect(rules(INSIDE_NFT.task(PROXY))).toEqual([
      "prerouting tcp dport { 80, 443 } redirect to :15000",
      "output meta l4proto tcp meta skuid 1337 return",
      "output meta l4proto tcp ip daddr 10.1.0.0/16 return",
      "output meta l4proto tcp ip daddr 127.0.0.0/8 return",
      "output meta l4proto tcp redirect to :15001",
    ]);
    expect(rules(INSIDE_NFT.task(SOME))).toEqual([
      "output meta l4proto tcp meta skuid 1337 return",
      "output meta l4proto tcp ip daddr 127.255.0.0/16 redirect to :15001",
    ]);
    expect(rules(INSIDE_NFT.task(TRANSPARENT))).toEqual([
      "transparent meta l4proto tcp ip daddr 192.0.2.0/24 tproxy to :15001 meta mark set meta mark or 0x1 accept",
      "transparent meta l4proto tcp ip daddr 192.0.2.0/24 drop",
    ]);
  });

  test("T20: what comes before services is written again without the rest of the task's rules", () => {
    expect(lines(beforeServices({ ...SOME, ...TRANSPARENT }))).toEqual([
      "add table ip runt-task",
      "add chain ip runt-task output { type nat hook output priority -106; policy accept; }",
      "flush chain ip runt-task output",
      "add rule ip runt-task output meta l4proto tcp meta skuid 1337 return",
      "add rule ip runt-task output meta l4proto tcp ip daddr 127.255.0.0/16 redirect to :15001",
    ]);
    expect([beforeServices(undefined), beforeServices(TRANSPARENT)]).toEqual(["", ""]);
  });

  test("each part of a service has the same share; all rules are replaced in one transaction, and no chain is removed meanwhile", () => {
    const text = INSIDE_NFT.services(SERVICES);
    expect(rules(text)).toEqual([
      "service-0 meta l4proto tcp th dport 80 numgen random mod 2 < 1 dnat ip to 10.64.0.1:8080",
      "service-0 meta l4proto tcp th dport 80 dnat ip to 10.64.0.3:8080",
      "output ip daddr 198.18.0.9 goto service-0",
      "output ip daddr 198.18.0.10 goto service-1",
      "refused ip daddr 198.18.0.9 meta l4proto tcp reject with tcp reset",
      "refused ip daddr 198.18.0.9 reject",
      "refused ip daddr 198.18.0.10 meta l4proto tcp reject with tcp reset",
      "refused ip daddr 198.18.0.10 reject",
    ]);
    expect(lines(text)).toContain("flush table ip runt-services");
    expect(text).not.toMatch(/delete|destroy|map/);
    expect(rules(INSIDE_NFT.services([]))).toEqual([]);
  });

  test("a packet to the resolver leaves loopback, and others do not reach what listens there", () => {
    expect(rules(INSIDE_NFT.resolver("10.64.9.9"))).toEqual([
      "loopback iifname != lo ip saddr 127.0.0.0/8 counter drop",
      "loopback iifname != lo ip daddr 127.0.0.0/8 counter drop",
      "output ip daddr 127.0.0.11 meta l4proto { tcp, udp } th dport 53 dnat ip to 10.64.9.9:5533",
      "postrouting ip saddr 127.0.0.0/8 ip daddr 10.64.9.9 meta l4proto { tcp, udp } th dport 5533 masquerade",
    ]);
  });

  test("the chains of iptables, and the rules that lead to them, are found by the handles that nft prints", () => {
    const [jump, other] = ["RUNT-SERVICES", "DOCKER"].map((target, at) => ({
      rule: {
        family: "ip",
        table: "nat",
        chain: "OUTPUT",
        handle: 4 + at,
        expr: [{ counter: { packets: 0, bytes: 0 } }, { jump: { target } }],
      },
    }));
    const chain = { chain: { family: "ip", table: "nat", name: "OUTPUT", handle: 3 } };
    const text = `${JSON.stringify({ nftables: [{ metainfo: {} }, chain, jump, other] })}\n`;
    expect(removalOfChain("RUNT-SERVICES", text)).toEqual([
      "delete rule ip nat OUTPUT handle 4",
      "flush chain ip nat RUNT-SERVICES",
      "delete chain ip nat RUNT-SERVICES",
    ]);
    expect(removalOfChain("RUNT-SERVICES", "")).toEqual([]);
  });
});

describe("iptables", () => {
  const lines = (text: string) => text.trimEnd().split("\n");

  test("E71: ports of the addresses of a task that lead to others of it, but not on loopback", () => {
    expect(lines(INSIDE_IPTABLES.task(REDIRECTS))).toEqual([
      "*nat",
      "-A PREROUTING -p udp --dport 80 -m addrtype --dst-type LOCAL -j REDIRECT --to-ports 8080",
      "-A OUTPUT -p udp --dport 80 ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j REDIRECT --to-ports 8080",
      "COMMIT",
    ]);
  });

  test("T20, T21, T23: what is not for the proxy returns, so that it comes to the rules of services", () => {
    expect(lines(INSIDE_IPTABLES.task(PROXY))).toEqual([
      "*nat",
      ":RUNT-EGRESS - [0:0]",
      "-A RUNT-EGRESS -m owner --uid-owner 1337 -j RETURN",
      "-A RUNT-EGRESS -d 10.1.0.0/16 -j RETURN",
      "-A RUNT-EGRESS -d 127.0.0.0/8 -j RETURN",
      "-A RUNT-EGRESS -p tcp -j REDIRECT --to-ports 15001",
      "-A OUTPUT -p tcp -j RUNT-EGRESS",
      "-A PREROUTING -p tcp -m multiport --dports 80,443 -j REDIRECT --to-ports 15000",
      "COMMIT",
    ]);
    expect(lines(INSIDE_IPTABLES.task(SOME))).toContain("-A RUNT-EGRESS -p tcp -d 127.255.0.0/16 -j REDIRECT --to-ports 15001");
    expect(lines(INSIDE_IPTABLES.task(TRANSPARENT))).toEqual([
      "*mangle",
      "-A PREROUTING -p tcp -d 192.0.2.0/24 -j TPROXY --on-port 15001 --tproxy-mark 0x1/0x1",
      "COMMIT",
    ]);
  });

  test("each part of a service has the same share, and what no part serves is refused", () => {
    expect(lines(INSIDE_IPTABLES.services(SERVICES.slice(0, 1)))).toEqual([
      "*filter",
      ":RUNT-SERVICES - [0:0]",
      "-A RUNT-SERVICES -d 198.18.0.9 -p tcp -j REJECT --reject-with tcp-reset",
      "-A RUNT-SERVICES -d 198.18.0.9 -j REJECT",
      "COMMIT",
      "*nat",
      ":RUNT-SERVICES - [0:0]",
      "-A RUNT-SERVICES -d 198.18.0.9 -p tcp --dport 80 -m statistic --mode random --probability 0.5000000000 -j DNAT --to-destination 10.64.0.1:8080",
      "-A RUNT-SERVICES -d 198.18.0.9 -p tcp --dport 80 -j DNAT --to-destination 10.64.0.3:8080",
      "COMMIT",
    ]);
  });

  test("a packet to the resolver leaves loopback, and others do not reach what listens there", () => {
    const text = lines(INSIDE_IPTABLES.resolver("10.64.9.9"));
    expect(text).toContain("-A RUNT-NAMES -p udp --dport 53 -j DNAT --to-destination 10.64.9.9:5533");
    expect(text).toContain("-A POSTROUTING -s 127.0.0.0/8 -d 10.64.9.9 -j RUNT-NAMES-BACK");
    expect(text.indexOf("-A RUNT-LOOPBACK ! -i lo -d 127.0.0.0/8 -j DROP")).toBeLessThan(text.indexOf("*nat"));
  });
});
