/**
 * The table of this engine in nftables. What is for a task, a bridge or a service is in sets and maps, each element with a comment that says for whom; the chains that ask them
 * are always the same. A rule that accepts ends only the chains of this table: what other tables drop stays dropped. Pure.
 */
import { RESOLVER_PORT } from "../../plan/index.ts";
import { withoutPrefix } from "../files.ts";
import { type Chain, type Contents, chainOf, type Element, inFamily, markOf } from "./contents.ts";
import type { BridgePort, GuardedBridge, ServicePort, TaskWays } from "./filter.ts";
import { chosenFor, PARTS, SEED } from "./parts.ts";

const LOOPBACK = "127.0.0.0/8";
const METADATA = "169.254.169.254";
const PORT = "inet_proto . inet_service";
const TO = "ipv4_addr . inet_service";

/** Types of the sets and maps. Source: nft(8). */
const SETS: Readonly<Record<string, string>> = {
  from: "map type ifname : verdict;",
  to: "map type ipv4_addr : verdict; flags interval;",
  metadata: "set type ifname . ipv4_addr;",
  internal: "map type ifname : verdict;",
  outward: "map type ipv4_addr : verdict;",
  published: "set type ipv4_addr;",
  ports: `map type ${PORT} : ${TO};`,
  ports_at: `map type ipv4_addr . ${PORT} : ${TO};`,
  parts: "set type ipv4_addr;",
  services: `map type ${PORT} : verdict;`,
  services_at: `map type ipv4_addr . ${PORT} : verdict;`,
  served: `set type ${PORT};`,
  served_at: `set type ipv4_addr . ${PORT};`,
};

/** Those of the family bridge: interfaces of the host that lead to tasks, and what their tasks may send. */
const FRAME_SETS: Readonly<Record<string, string>> = {
  watched: "set type ifname;",
  stations: "set type ifname . ether_addr;",
  senders: "set type ifname . ether_addr . ipv4_addr;",
  relays: "set type ifname . ether_addr;",
};

const SERVICE_SETS = ["parts", "services", "services_at", "served", "served_at"];
/** The owner of what is for services. */
export const SERVICES = "services";

/** The tables of the engine. @param hasFrames whether the kernel knows tables of the family bridge */
export function tablesOf(table: string, hasFrames: boolean): string[] {
  return hasFrames ? [table, inFamily(table, { family: "bridge" })] : [table];
}

/** Makes the tables, or finds them as they are. @param identity of the state directory */
export function tableLines(table: string, identity: string, hasFrames: boolean): string[] {
  return tablesOf(table, hasFrames).map((one) => `add table ${one} { comment "runt: engine of the state directory ${identity}"; }`);
}

/** Lines that make the sets of the tables, or find them as they are. */
export function setLines(table: string, hasFrames: boolean): string[] {
  const lines = (of: string, sets: Readonly<Record<string, string>>) =>
    Object.entries(sets).map(([name, type]) => {
      const [kind, ...rest] = type.split(" ");
      return `add ${kind} ${of} ${name} { ${rest.join(" ")} }`;
    });
  return [...lines(table, SETS), ...(hasFrames ? lines(inFamily(table, { family: "bridge" }), FRAME_SETS) : [])];
}

/** The name of the chain whose only rule says which state directory the table is for. Its digest is that of this text. */
export const IDENTITY = "identity";

/** The chains that are always there. Those of the kernel's NAT are asked in the order of their priority until one decides: ours come before those of others, at -100 and 100. */
export function skeleton(identity: string, hasFrames: boolean): Contents {
  const hook = (type: string, name: string, priority: number) => `type ${type} hook ${name} priority ${priority}; policy accept;`;
  return {
    elements: [],
    chains: [
      identityChain(identity),
      ...(hasFrames ? [{ ...identityChain(identity), family: "bridge" as const }, ...frameChains(hook)] : []),
      chainOf("guard", ["iifname lo return", "iifname vmap @from", "ip daddr vmap @to"], hook("filter", "prerouting", -305)),
      chainOf("forward", ["iifname vmap @internal"], hook("filter", "forward", -5)),
      chainOf("lead", [
        "ip daddr . meta l4proto . th dport vmap @services_at",
        "dnat ip to ip daddr . meta l4proto . th dport map @ports_at",
        "meta l4proto . th dport vmap @services",
        "dnat ip to meta l4proto . th dport map @ports",
      ]),
      chainOf("prerouting", ["fib daddr type local jump lead"], hook("nat", "prerouting", -105)),
      chainOf("output", ["fib daddr type local jump lead"], hook("nat", "output", -105)),
      // The answer must come back through the host: to a neighbour, to the task itself, and to loopback of the host, it would go another way.
      chainOf("returning", ["ip daddr @published masquerade", "ip daddr @parts masquerade"]),
      chainOf(
        "postrouting",
        [`ip saddr ${LOOPBACK} ct status dnat jump returning`, "ip saddr vmap @outward"],
        hook("nat", "postrouting", 95),
      ),
      chainOf("refuse", ["meta l4proto tcp reject with tcp reset", "reject"]),
      // Also where a firewall drops packets a client does not wait for a port that nobody serves.
      chainOf(
        "input",
        [
          "ct state new ip daddr . meta l4proto . th dport @served_at jump refuse",
          "ct state new meta l4proto . th dport @served jump refuse",
        ],
        hook("filter", "input", -5),
      ),
    ],
  };
}

function identityChain(identity: string): Chain {
  return { name: IDENTITY, rules: [{ text: "return", digest: `state directory ${identity}` }] };
}

/**
 * What a task sends passes these before the bridge learns where an address is, and before it gives the frame to the host or to another task. Nothing passes but IPv4
 * and ARP in the task's own name, and IPv6, of which tasks have no addresses. A frame with a tag of a VLAN is none of these, also one with the tag 0, which receivers
 * ignore.
 */
function frameChains(hook: (type: string, name: string, priority: number) => string): Chain[] {
  const [isSender, isOwnClaim] = ["ip saddr", "arp saddr ip"].map((address) => `iifname . ether saddr . ${address} @senders`);
  return [
    chainOf(
      "sent",
      [
        `ether type ip ${isSender} return`,
        "ether type ip iifname . ether saddr @relays return",
        `ether type arp arp htype 1 arp ptype ip arp hlen 6 arp plen 4 ${isOwnClaim} iifname . arp saddr ether . arp saddr ip @senders return`,
        "ether type ip6 iifname . ether saddr @stations return",
        "drop",
      ],
      undefined,
      "bridge",
    ),
    chainOf("frames", ["iifname @watched jump sent"], hook("filter", "prerouting", -310), "bridge"),
  ];
}

/** Who has an element that was read. */
export function ownerOf({ set, mark }: Element): string {
  return SERVICE_SETS.includes(set) ? SERVICES : mark;
}

/** Who has a chain that was read; undefined: nobody of this engine, or all. */
export function ownerOfChain(name: string): string | undefined {
  if (name.startsWith("service-")) return SERVICES;
  const [, bridge] = /^(?:from|to|out|inner)-(.+)$/.exec(name) ?? [];
  return bridge === undefined ? undefined : bridgeOwner(bridge);
}

export function bridgeOwner(bridge: string): string {
  return `runt bridge: ${bridge}`;
}

/** The verdict that leads from a task behind a bridge to the world. */
export function outOf(bridge: string): string {
  return `goto out-${bridge}`;
}

/** undefined: it is no owner of a bridge. */
export function bridgeIn(owner: string): string | undefined {
  return owner.startsWith("runt bridge: ") ? owner.slice("runt bridge: ".length) : undefined;
}

/** Rules for packets that come from a bridge, whatever a task has changed in its own namespace, and for packets that others send to addresses behind it. */
export function bridgeContents({ bridge, subnet, reaching, host, isInternal }: GuardedBridge): Contents {
  const mark = bridgeOwner(bridge);
  const one = (set: string, key: string, value?: string): Element => ({ set, key, value, mark });
  return {
    elements: [
      one("from", bridge, `jump from-${bridge}`),
      ...(subnet === undefined ? [] : [one("to", subnet, `jump to-${bridge}`)]),
      ...(isInternal ? [one("internal", bridge, `jump inner-${bridge}`)] : []),
      ...reaching.map((address) => one("metadata", `${bridge} . ${address}`)),
    ],
    chains: [
      chainOf(`from-${bridge}`, [
        `ip saddr ${LOOPBACK} drop`,
        `ip daddr ${LOOPBACK} drop`,
        `ip daddr ${METADATA} iifname . ip saddr != @metadata drop`,
      ]),
      chainOf(`to-${bridge}`, [
        `iifname ${bridge} return`,
        ...(host === undefined ? [] : [`meta l4proto { tcp, udp } th dport ${RESOLVER_PORT} drop`]),
        // The host's own address in the network has the ports that tasks publish.
        "fib daddr type local return",
        "drop",
      ]),
      // From one task of the network to another, or to itself, by a port of the host.
      chainOf(`out-${bridge}`, [
        `oifname ${bridge} ct status dnat jump returning`,
        `oifname ${bridge} return`,
        "ip daddr 224.0.0.0/4 return",
        "masquerade",
      ]),
      ...(isInternal ? [chainOf(`inner-${bridge}`, [`oifname != ${bridge} drop`])] : []),
    ],
  };
}

const isAny = (address: string | undefined) => address === undefined || address === "0.0.0.0";

/** What a task may send by its interfaces on bridges. */
function frameElements(mark: string, ports: readonly BridgePort[]): Element[] {
  return ports.flatMap(({ port, mac, addresses, isRelay }) => {
    const one = (set: string, key: string): Element => ({ set, key, mark, family: "bridge" });
    const station = `${port} . ${mac}`;
    return [
      one("watched", port),
      one("stations", station),
      ...addresses.map((address) => one("senders", `${station} . ${address}`)),
      ...(isRelay ? [one("relays", station)] : []),
    ];
  });
}

export function taskContents(id: string, ways: readonly TaskWays[], frames: readonly BridgePort[]): Contents {
  const mark = markOf(id);
  const one = (set: string, key: string, value?: string): Element => ({ set, key, value, mark });
  const elements = ways.flatMap(({ bridge, range, ports }) => {
    const address = withoutPrefix(range);
    return [
      one("outward", address, outOf(bridge)),
      ...(ports.length === 0 ? [] : [one("published", address)]),
      ...ports.map(({ host, container, protocol, address: at }) =>
        isAny(at)
          ? one("ports", `${protocol} . ${host}`, `${address} . ${container}`)
          : one("ports_at", `${at} . ${protocol} . ${host}`, `${address} . ${container}`),
      ),
    ];
  });
  return { elements: [...elements, ...frameElements(mark, frames)], chains: [] };
}

/** Each port has a chain that chooses one of those that serve: at random, or one that follows from the address of the client. */
export function serviceContents(ports: readonly ServicePort[]): Contents {
  const mark = "runt services";
  const each = ports.map((port) => {
    const { host, protocol, address, to } = port;
    const [at, name] = isAny(address) ? [`${protocol} . ${host}`, ""] : [`${address} . ${protocol} . ${host}`, "_at"];
    const chain = `service-${protocol}-${host}${isAny(address) ? "" : `-${address}`}`;
    return {
      elements: [
        { set: `served${name}`, key: at, mark },
        ...(to.length === 0 ? [] : [{ set: `services${name}`, key: at, value: `goto ${chain}`, mark }]),
      ],
      chains: to.length === 0 ? [] : [chainOf(chain, choosing(port))],
    };
  });
  const parts = new Map(ports.flatMap(({ to }) => to.map(({ address, task }) => [withoutPrefix(address), task] as const)));
  return {
    elements: [
      ...[...parts].map(([key, task]) => ({ set: "parts", key, mark: markOf(task) })),
      ...each.flatMap(({ elements }) => elements),
    ],
    chains: each.flatMap(({ chains }) => chains),
  };
}

/**
 * At random: the first takes its share of all connections, the next one its share of the rest. These are rules and no map: the kernel looks for elements of a map in its newest state also for
 * a packet that is passing through the older rules, which would find nothing and be refused. Where the address of the client decides, such a packet goes to the first.
 */
function choosing({ protocol, sticky, to }: ServicePort): string[] {
  const led = `meta l4proto ${protocol}`;
  const shown = ({ address, port }: ServicePort["to"][number]) => `${withoutPrefix(address)} . ${port}`;
  const leading = (one: ServicePort["to"][number]) => `dnat ip to ${shown(one).replace(" . ", ":")}`;
  if (!sticky || to.length === 1)
    return to.map((one, index) => {
      const left = to.length - index;
      return `${led} ${left === 1 ? "" : `numgen random mod ${left} < 1 `}${leading(one)}`;
    });
  const parts = Array.from({ length: PARTS }, (_, part) => `${part} : ${shown(chosenFor(part, to))}`);
  return [`${led} dnat ip to jhash ip saddr mod ${PARTS} seed ${SEED} map { ${parts.join(", ")} }`, `${led} ${leading(to[0]!)}`];
}
