/** Translates the network of a task into the steps that make it, in order. Pure. Configurations follow the CNI specification 1.0. */
import { dotted, hostPortOf, type InterfaceSpec, type NetworkSpec, numberOf, rangeOf, type TaskSpec, without } from "../spec/index.ts";
import { type TaskRules, TRANSPARENT_MARK, TRANSPARENT_TABLE, taskRules } from "./network-rules.ts";

/** The configuration of a plugin. `cniVersion`, `name` and `prevResult` are added when it is called. */
export type CniPlugin = Readonly<Record<string, unknown>> & { readonly type: string };

/** One attachment: the plugins that configure one interface, in order. */
export interface NetworkStep {
  /** Name of the network, which identifies its address leases and firewall rules. */
  readonly name: string;
  readonly interface: string;
  readonly plugins: readonly CniPlugin[];
  /** Whether the attachment is useless without an address. */
  readonly needsAddress: boolean;
  /** For an interface behind a bridge: rules of the host lead from its address to the world, and from these ports of the host to it. */
  readonly nat?: readonly PortForward[];
  /** Whether ports of the host that belong to services lead to it, too. */
  readonly serves?: true;
  /** For an interface behind a bridge: whether the task sends packets in the name of others by it, because it is a transparent proxy. Absent: an earlier version has made it. */
  readonly relays?: boolean;
}

export interface PortForward {
  readonly host: number;
  readonly container: number;
  readonly protocol: "tcp" | "udp";
  /** undefined: all addresses of the host. */
  readonly address: string | undefined;
}

export interface HostPort {
  readonly port: number;
  readonly protocol: "tcp" | "udp";
  /** undefined: all addresses of the host. */
  readonly address: string | undefined;
}

export interface NetworkPlan {
  readonly steps: readonly NetworkStep[];
  /** Host ports on which no other program may listen. */
  readonly ports: readonly HostPort[];
  /** Addresses that cannot be reached from the task. */
  readonly blocked: readonly string[];
  /** Rules inside the namespace; undefined: none. */
  readonly rules: TaskRules | undefined;
  /** Address of the host to which rules inside the namespace lead the resolver's address of a task; undefined: the task has no resolver. They are there before the interfaces. */
  readonly resolver: string | undefined;
  /** Routing rules and routes for `ip -batch` inside the namespace; "": none. They disappear with the namespace. */
  readonly routing: string;
}

/** A network of this engine: a bridge on the host, or the network of an interface of it, for which there is no bridge. */
export interface BridgeNetwork {
  readonly name: string;
  readonly bridge: string;
  /** Such as "10.201.0.0/20". */
  readonly subnet: string;
  /** Address of the host in it. undefined: the first one. */
  readonly gateway?: string | undefined;
}

export interface NetworkPlaces {
  readonly bridged: BridgeNetwork;
  /** The networks of NetworkSpec.further, in order. */
  readonly further?: readonly BridgeNetwork[];
  /** Directory of the address leases. */
  readonly leases: string;
  /** Whether the task asks the resolver of its networks. */
  readonly resolves?: boolean;
}

/** Where a task asks its resolver. It is Docker's, which images name. */
export const RESOLVER_ADDRESS = "127.0.0.11";
/** Where the resolver listens, on the host's address of each network. Not 53, which a name server of the host may have on all addresses, or a task as a port of the host. */
export const RESOLVER_PORT = 5533;

/** Addresses of the metadata services of clouds, which give out credentials of the machine. */
const METADATA = ["169.254.169.254", "fd00:ec2::254"];

/** @throws Error: the task has no network of its own */
export function networkPlan({ name, network }: TaskSpec, places: NetworkPlaces): NetworkPlan {
  if (network === undefined || network.mode === "host")
    throw new Error(`task ${name} has the mode ${network?.mode ?? "none given"}: there is no network to make`);
  return {
    steps: [...interfaces(network, places), ...bridged(network, places)],
    ports: network.ports.map(({ container, host = container, protocol, address }) => ({ port: host, protocol, address })),
    blocked: network.metadata ? [] : METADATA,
    resolver: places.resolves ? resolverOf(network, places) : undefined,
    rules: taskRules(network),
    routing: [...transparentRouting(network.proxy), ...(network.via ?? []).flatMap((one) => viaRoutes(one.addresses))]
      .map((line) => `${line}\n`)
      .join(""),
  };
}

/** Of a task that has only loopback, because the host cannot make what its spec says (NetworkSpec.fallback). Its namespace needs no program of the network. */
export const LOOPBACK_PLAN: NetworkPlan = { steps: [], ports: [], blocked: [], rules: undefined, resolver: undefined, routing: "" };

/** The host, where the resolver is, has an address in bridges only. */
function resolverOf(network: NetworkSpec, { bridged, further = [] }: NetworkPlaces): string | undefined {
  const said = [network, ...(network.further ?? [])];
  const found = [bridged, ...further].find((_, at) => said[at]?.link === undefined);
  return found && hostIn(found);
}

/** Address of the host in a network. */
export function hostIn({ subnet, gateway }: Pick<BridgeNetwork, "subnet" | "gateway">): string {
  return gateway ?? dotted(rangeOf(subnet)!.first + 1);
}

/** Delivers marked packets locally, whatever their destination is. */
function transparentRouting(proxy: NetworkSpec["proxy"]): string[] {
  if (proxy?.transparent === undefined) return [];
  return [
    `rule add fwmark ${TRANSPARENT_MARK}/${TRANSPARENT_MARK} lookup ${TRANSPARENT_TABLE}`,
    `route add local 0.0.0.0/0 dev lo table ${TRANSPARENT_TABLE}`,
  ];
}

/** Routes through another task. @param gateway address of that task; undefined: it does not run, and the addresses must not be reached by any other route */
export function viaRoutes(addresses: readonly string[], gateway?: string): string[] {
  return addresses.map((range) => (gateway === undefined ? `route replace unreachable ${range}` : `route replace ${range} via ${gateway}`));
}

function interfaces({ mode, interfaces: all }: NetworkSpec, { bridged: { name } }: NetworkPlaces): NetworkStep[] {
  if (mode !== "isolated") return [];
  return all.map((one, index) => ({
    name: `${name}-if${index}`,
    interface: `eth${index}`,
    plugins: [{ ...deviceOf(one), ipam: staticIpam(one) }, ...(one.mac === undefined ? [] : [{ type: "tuning", mac: one.mac }])],
    needsAddress: true,
  }));
}

function deviceOf({ association, parent, vlan }: InterfaceSpec): CniPlugin {
  if (association === "attached") return { type: "host-device", device: parent };
  return association === "vlan" ? { type: "vlan", master: parent, vlanId: vlan } : { type: "macvlan", master: parent, mode: "bridge" };
}

function staticIpam({ addresses, gateway }: InterfaceSpec): CniPlugin {
  const entries = addresses.map((address, index) => ({ address, ...(index === 0 && gateway !== undefined ? { gateway } : {}) }));
  const routes = gateway === undefined ? [] : [{ dst: gateway.includes(":") ? "::/0" : "0.0.0.0/0", gw: gateway }];
  return { type: "static", addresses: entries, routes };
}

/** The interfaces on bridges, which every task has unless it only has loopback. The host reaches the task through the first of them. */
function bridged(
  { mode, interfaces: others, ports, further: asked = [], proxy, ...first }: NetworkSpec,
  { bridged: main, further = [], leases }: NetworkPlaces,
): NetworkStep[] {
  if (mode === "none") return [];
  const isWayOut = !others.some(({ gateway }) => gateway !== undefined);
  const offset = mode === "isolated" ? others.length : 0;
  const own = ports.filter(({ service }) => service === undefined);
  const forwards = own.map(({ container, host = container, protocol, address }) => ({ host, container, protocol, address }));
  const named = [first, ...asked].flatMap((one) => one.interface ?? []);
  const free = Array.from({ length: 2 * (asked.length + 1) }, (_, at) => `eth${offset + at}`).filter((name) => !named.includes(name));
  return [main, ...further].map((network, index) => {
    const isFirst = index === 0;
    const said: Addressed = isFirst ? first : (asked[index - 1] ?? {});
    return {
      name: network.name,
      interface: said.interface ?? free.shift()!,
      plugins: [interfacePlugin(network, said, leases, isWayOut && isFirst && !said.internal)],
      needsAddress: true,
      // Without rules the host lets nothing of it out under its own address.
      ...(said.internal || said.link !== undefined ? {} : { nat: isFirst ? forwards : [] }),
      ...(isFirst && own.length < ports.length ? { serves: true as const } : {}),
      ...(said.link === undefined ? { relays: proxy?.transparent !== undefined } : {}),
    };
  });
}

type Addressed = Pick<NetworkSpec, "internal" | "range" | "reserved" | "address" | "mac" | "mtu" | "interface" | "link">;

/** Source: the plugins' documentation, "bridge", "macvlan", "ipvlan" and "host-local": what `args` asks for. */
function interfacePlugin(network: BridgeNetwork, said: Addressed, leases: string, isWayOut: boolean): CniPlugin {
  const { address, mac, mtu, link } = said;
  const ipam = { type: "host-local", dataDir: leases, ranges: [rangesOf(network, said)], routes: isWayOut ? [{ dst: "0.0.0.0/0" }] : [] };
  const ofMac = mac === undefined ? {} : { mac };
  const asked = { ...(address === undefined ? {} : { ips: [address] }), ...(link === undefined ? ofMac : {}) };
  const args = Object.keys(asked).length === 0 ? {} : { args: { cni: asked } };
  const size = mtu === undefined ? {} : { mtu };
  if (link !== undefined) {
    const { type, parent, mode = type === "macvlan" ? "bridge" : "l2" } = link;
    return { type, master: parent, mode, ...size, ...ofMac, ...args, ipam };
  }
  return { type: "bridge", bridge: network.bridge, isGateway: true, hairpinMode: true, ...size, ...args, ipam };
}

/** An address that the task names may be anywhere in the network. */
function rangesOf({ subnet, gateway }: BridgeNetwork, { range, reserved = [], address }: Addressed): object[] {
  const common = { subnet, ...(gateway === undefined ? {} : { gateway }) };
  if (address !== undefined || (range === undefined && reserved.length === 0)) return [common];
  const whole = rangeOf(subnet)!;
  const part = range === undefined ? whole : rangeOf(range)!;
  const usable = { first: Math.max(part.first, whole.first + 1), last: Math.min(part.last, whole.last - 1) };
  return without(usable, reserved.map(numberOf)).map(({ first, last }) => ({
    ...common,
    rangeStart: dotted(first),
    rangeEnd: dotted(last),
  }));
}

/** Such as "8080/tcp". */
export function portName({ port, protocol }: HostPort): string {
  return hostPortOf({ container: port, protocol });
}
