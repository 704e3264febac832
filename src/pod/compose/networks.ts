/** Translates the networks of a service: the default network of the project, or those that it names. Source: Compose specification, "networks". */
import type { TaskInput } from "../../engine/spec/index.ts";
import { engineName, type ServicePlace } from "./place.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

type Network = NonNullable<TaskInput["network"]>;

/** The network of services that name none. */
const DEFAULT = "default";

/** Names and ports of a service in its networks. */
export interface Member {
  /** Further names of the service there: those of its container and of links, and its own name if the task has another one. */
  readonly names: readonly string[];
  readonly ports: Network["ports"];
}

/** undefined: the service uses the host's network, or has none. */
export function networkOf(
  service: ServiceInput,
  project: ComposeInput,
  { names, ports = [] }: Member,
  place: ServicePlace,
): Network | undefined {
  const { network_mode: mode, networks: given } = service;
  if (mode !== undefined && given !== undefined && Object.keys(given).length > 0)
    place.refuse(`with network_mode ${mode} there are no networks`, ["networks"]);
  if (mode !== undefined && mode !== "bridge") {
    // Services that use the network of another service are checked in joined.ts.
    if ((mode === "host" || mode === "none") && service.external_links?.length)
      place.refuse(`with network_mode ${mode} other containers are not found by their names`, ["external_links"]);
    return undefined;
  }
  const hosts = hostsOf(service, place);
  const dns = dnsOf(service);
  const links = linksOf(service);
  const common = {
    mode: "bridge" as const,
    ports,
    ...(dns === undefined ? {} : { dns }),
    ...(hosts.length === 0 ? {} : { hosts }),
    ...links,
  };
  if (mode === "bridge") return common;
  const all =
    given === undefined || Object.keys(given).length === 0
      ? [[DEFAULT, null] as const]
      : Array.isArray(given)
        ? given.map((name) => [name, null] as const)
        : Object.entries(given);
  for (const [name] of all) {
    if (name.startsWith("x-")) place.refuse(`${name} is an extension for Compose: give the network another name`, ["networks"]);
    else if (name !== DEFAULT && project.networks?.[name] === undefined) place.refuse(`the file has no network ${name}`, ["networks"]);
  }
  if (links.links !== undefined && all.every(([name]) => !identityOf(name, project.networks?.[name]).shared))
    place.warn("has no effect: other projects are found only in a network that is external, or has a name", ["external_links"]);
  const made = all.map(([name, said]): Addresses & ReturnType<typeof identityOf> & Pick<Network, "aliases"> => {
    const aliases = [...new Set([...names, ...(said?.aliases ?? [])])];
    return {
      ...identityOf(name, project.networks?.[name]),
      ...(aliases.length === 0 ? {} : { aliases }),
      ...addressesOf(name, said, project),
    };
  });
  const mac = service.mac_address?.replaceAll("-", ":");
  if (mac !== undefined && made[0] !== undefined && made[0].mac === undefined) made[0] = { ...made[0], mac };
  // The default route goes through the first network: one that is not internal, with the highest gw_priority.
  const priorities = new Map(made.map((one, at) => [one, all[at]![1]?.gw_priority ?? 0]));
  // Ports of the host lead to the first one, too, which is then a bridge.
  const isLast = ({ internal, link }: (typeof made)[number]) => Number(internal ?? (ports.length > 0 && link !== undefined));
  const [first = { name: DEFAULT }, ...further] = made.toSorted((a, b) => isLast(a) - isLast(b) || priorities.get(b)! - priorities.get(a)!);
  for (const [name, said] of all)
    for (const option of said?.driver_opts?.others ?? [])
      place.warn("has no effect, as with Docker", ["networks", name, "driver_opts", option]);
  const { link } = first as (typeof made)[number];
  if (first.internal && ports.length > 0) place.warn("has no effect: no port of the host leads to an internal network", ["ports"]);
  else if (link !== undefined && ports.length > 0)
    place.warn(`has no effect, as with Docker: no port of the host leads to a network of ${link.type}`, ["ports"]);
  const binding = all.map(([name]) => project.networks?.[name]?.driver_opts?.binding)[made.indexOf(first as (typeof made)[number])];
  const bound = binding === undefined ? ports : ports.map((port) => ({ address: binding, ...port }));
  return { ...common, ...first, ports: first.internal || link !== undefined ? [] : bound, ...(further.length === 0 ? {} : { further }) };
}

/** Tasks of other projects by the names that this service gives them. */
function linksOf({ external_links: given = [] }: ServiceInput): Pick<Network, "links"> {
  const links = given.map((one) => {
    const [name = "", alias = name] = one.split(":");
    return { name, alias };
  });
  return links.length === 0 ? {} : { links };
}

type NetworkInput = NonNullable<NonNullable<ComposeInput["networks"]>[string]>;

/** A network with a name, or an external one, is a host-wide network of this name, so that other projects can use it, too. */
function identityOf(
  key: string,
  network: NetworkInput | null | undefined,
): Pick<Network, "shared" | "internal"> & { readonly name: string } {
  const { external, name, internal } = network ?? {};
  const own = typeof external === "object" ? (external.name ?? name) : name;
  const isShared = own !== undefined || typeof external === "object" || external === true;
  return {
    name: engineName(own ?? key),
    ...(isShared ? { shared: true as const } : {}),
    ...(internal === true ? { internal: true as const } : {}),
  };
}

/** Names of the external networks that tasks use. A network that the file itself makes under another key is left out. */
export function externalsIn(inputs: readonly Pick<TaskInput, "network">[], { networks = {} }: ComposeInput): string[] {
  const isExternal = (network: NetworkInput | null | undefined) => network?.external === true || typeof network?.external === "object";
  const names = (wanted: boolean) =>
    Object.entries(networks).flatMap(([key, one]) => (isExternal(one) === wanted ? [identityOf(key, one)] : []));
  const own = new Set(names(false).flatMap(({ name, shared }) => (shared ? [name] : [])));
  const used = new Set(
    inputs.flatMap(({ network }) =>
      [...(network === undefined ? [] : [network]), ...(network?.further ?? [])].flatMap(({ name, shared }) => (shared ? name : [])),
    ),
  );
  return [...new Set(names(true).map(({ name }) => name))].filter((name) => used.has(name) && !own.has(name));
}

type Attachment = Exclude<NonNullable<ServiceInput["networks"]>, string[]>[string];
type Addresses = Pick<Network, "subnet" | "gateway" | "range" | "reserved" | "address" | "mac" | "mtu" | "interface" | "link">;

/**
 * Addresses named by other services or by `aux_addresses` are reserved, so that this service does not get them. Source: Compose specification,
 * "ipam", "ipv4_address".
 */
function addressesOf(key: string, said: Attachment | null, { networks, services }: ComposeInput): Addresses {
  const { subnet, gateway, ip_range: range, aux_addresses: others = {} } = networks?.[key]?.ipam?.config?.[0] ?? {};
  const { ipv4_address: address, mac_address: mac, interface_name: name = said?.driver_opts?.interface } = said ?? {};
  const { mtu } = networks?.[key]?.driver_opts ?? {};
  const link = linkOf(networks?.[key]);
  const fixed = Object.values(services).flatMap(({ networks: all = {} }) => (Array.isArray(all) ? [] : (all[key]?.ipv4_address ?? [])));
  const reserved = [...new Set([...Object.values(others), ...fixed])];
  return {
    ...(subnet === undefined ? {} : { subnet }),
    ...(gateway === undefined ? {} : { gateway }),
    ...(range === undefined ? {} : { range }),
    // Addresses are chosen only for services that do not name one.
    ...(reserved.length === 0 || address !== undefined ? {} : { reserved }),
    ...(address === undefined ? {} : { address }),
    ...(mac === undefined ? {} : { mac: mac.replaceAll("-", ":") }),
    ...(name === undefined ? {} : { interface: name }),
    ...(mtu === undefined ? {} : { mtu }),
    ...(link === undefined ? {} : { link }),
  };
}

/** undefined: the network is a bridge. */
function linkOf(network: NetworkInput | null | undefined): Network["link"] {
  const { driver, driver_opts: options } = network ?? {};
  if ((driver !== "macvlan" && driver !== "ipvlan") || options?.parent === undefined) return undefined;
  const mode = driver === "macvlan" ? options.macvlan_mode : options.ipvlan_mode;
  return { type: driver, parent: options.parent, ...(mode === undefined ? {} : { mode }) };
}

/**
 * Fields that the service does not give stay those of the host. A search domain that is empty or "." is none. undefined: the service has no settings
 * for resolv.conf. Source: moby, daemon/libnetwork/internal/resolvconf, OverrideSearch.
 */
export function dnsOf({ dns: servers, dns_search: search, dns_opt: options }: ServiceInput): Network["dns"] | undefined {
  const list = (value: string | string[] = []) => (typeof value === "string" ? [value] : value);
  const dns = { servers: list(servers).filter((one) => one !== ""), search: list(search), options: list(options) };
  const inherit = (["servers", "search", "options"] as const).filter((field) => dns[field].length === 0);
  if (inherit.length === 3) return undefined;
  const domains = dns.search.filter((one) => one !== "" && one !== ".");
  return { ...(inherit.length === 0 ? {} : { inherit }), ...dns, search: domains };
}

/** Entries of /etc/hosts. "host-gateway" stands for the address of the host in the task's network, which only the engine knows. */
export function hostsOf(
  { extra_hosts: given = [] }: Pick<ServiceInput, "extra_hosts">,
  { refuse }: ServicePlace,
): NonNullable<Network["hosts"]> {
  if (!Array.isArray(given))
    return Object.entries(given).flatMap(([name, all]) =>
      (typeof all === "string" ? all.split(",") : all).map((address) => ({ name, address: bare(address) })),
    );
  return given.flatMap((one, index) => {
    const [, name, address] = /^([^:=]+)[:=](.+)$/.exec(one) ?? [];
    if (name === undefined || address === undefined) refuse('write a name and its address like "db=192.0.2.5"', ["extra_hosts", index]);
    return name === undefined || address === undefined ? [] : address.split(",").map((one) => ({ name, address: bare(one) }));
  });
}

function bare(address: string): string {
  return address.replace(/^\[(.*)\]$/, "$1");
}
