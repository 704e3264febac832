/**
 * Packet filter of a box with a way out, for nft(8). It is in the box's own network namespace, and no process of the box has the capability to change it. Everything that pasta
 * is given to send was let through here. Pure.
 */
import { type Outbound, PRIVATE_RANGES } from "./network.ts";

/** The device in the box, which pasta makes. */
export const DEVICE = "out0";
/**
 * Addresses of the box's end, the way out, and the resolver. They are of the range that RFC 7335 gives to the inner side of a translation, which no other host is reached by.
 */
export const BOX_ADDRESS = "192.0.0.2";
export const GATEWAY = "192.0.0.1";
export const RESOLVER = "192.0.0.3";
export const PREFIX = 29;

/**
 * What no box ever reaches, whatever is named: this host (RFC 1122), loopback, link-local addresses with the metadata service of most clouds, protocol assignments (RFC 6890; among
 * them the metadata of Oracle's cloud), multicast and reserved addresses, and metadata services that are elsewhere: of Alibaba's cloud and of Azure.
 */
const NEVER = [
  ...["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "224.0.0.0/4", "240.0.0.0/4"],
  ...["100.100.100.200", "168.63.129.16"],
];

/** Not of the Internet (RFC 6890): documentation, the former 6to4 relays, benchmarks. */
const SPECIAL = ["192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"];

/** Connections and UDP exchanges of a box at the same time: each takes memory of the kernel that counts for nobody. */
const MOST_CONNECTIONS = 1024;

export interface RuleFacts extends Outbound {
  /** Addresses at which this host itself is reached. */
  readonly own: readonly string[];
  /** The first and last port that datagrams of the box have on the host. */
  readonly ports: readonly [number, number];
  /** Whether the host has a resolver that pasta asks. */
  readonly hasResolver: boolean;
}

/** A table that takes the place of one of this name. */
export function rulesOf({ own, private: named, ports, hasResolver }: RuleFacts): string {
  const set = (name: string, elements: readonly string[]) => [
    `set ${name} {`,
    "type ipv4_addr; flags interval; auto-merge;",
    ...(elements.length === 0 ? [] : [`elements = { ${[...new Set(elements)].join(", ")} }`]),
    "}",
  ];
  return [
    "add table inet runt-outbound",
    "delete table inet runt-outbound",
    "table inet runt-outbound {",
    ...set("never", [...NEVER, ...own]),
    ...set("named", named),
    ...set("special", [...PRIVATE_RANGES, ...SPECIAL]),
    "chain refused {",
    // A connection that begins does not see the other kind until it tries again, a second later.
    "meta l4proto tcp reject with tcp reset",
    "reject with icmpx admin-prohibited",
    "}",
    "chain output {",
    "type filter hook output priority filter; policy drop;",
    'oifname "lo" accept',
    // Without an address of IPv6 nothing is sent but what the kernel itself says of its link-local one.
    "meta nfproto != ipv4 drop",
    `ct state new ct count over ${MOST_CONNECTIONS} goto refused`,
    ...(hasResolver ? [`ip daddr ${RESOLVER} udp dport 53 accept`] : []),
    "ip daddr @never goto refused",
    "ip daddr @named meta l4proto { tcp, udp } accept",
    "ip daddr @special goto refused",
    "meta l4proto { tcp, udp } accept",
    "goto refused",
    "}",
    "chain input {",
    "type filter hook input priority filter; policy drop;",
    'iifname "lo" accept',
    // pasta hands on datagrams from everybody that come to a port from which the box has sent one.
    "meta nfproto ipv4 ct state established accept",
    "}",
    "chain ports {",
    "type nat hook postrouting priority srcnat; policy accept;",
    `oifname "${DEVICE}" meta l4proto udp snat ip to ${BOX_ADDRESS}:${ports[0]}-${ports[1]} fully-random`,
    "}",
    "}",
    "",
  ].join("\n");
}
