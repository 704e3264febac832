/** Contents of hosts, hostname and resolv.conf for the containers of a task with its own network. Pure. */
import type { Mount, OciObject } from "../../executor/index.ts";
import type { ContainerSpec, DnsSpec, NetworkSpec, TaskSpec } from "../spec/index.ts";
import { RESOLVER_ADDRESS } from "./network.ts";

/** Names of the files, which are mounted below /etc in the containers. */
export const NETWORK_FILES = ["hosts", "hostname", "resolv.conf"] as const;
export type NetworkFile = (typeof NETWORK_FILES)[number];

export interface NetworkPlacement {
  /** Path to which the network namespace is bound. */
  readonly path: string;
  /** Directory of the files. */
  readonly files: string;
}

/** Mounts of the network files. A file is left out if the user mounts something else at its path. */
export function fileMounts(network: NetworkPlacement | undefined, container: ContainerSpec, config: OciObject | undefined): Mount[] {
  if (network === undefined) return [];
  return NETWORK_FILES.filter((name) => !isMountedAt(`/etc/${name}`, container, config)).map((name) => ({
    destination: `/etc/${name}`,
    source: `${network.files}/${name}`,
    type: "bind",
    options: ["bind", "rprivate", "nosuid", "nodev", "noexec", "ro"],
  }));
}

export interface Named {
  readonly address: string;
  readonly names: readonly string[];
}

export interface FileContents {
  /** The task's names; its own name is the first. */
  readonly names: readonly string[];
  /** Without prefix lengths. The first is the address of the task's own name. */
  readonly addresses: readonly string[];
  readonly dns: NetworkSpec["dns"];
  /** Content of resolv.conf of the host. */
  readonly hostResolv: string;
  /** Entries that the task file gives. */
  readonly hosts?: readonly Named[];
  /** Whether the task uses the resolver of its networks, which forwards queries to name servers. */
  readonly resolves?: boolean;
}

export function fileContents({
  names,
  addresses,
  dns,
  hostResolv,
  hosts = [],
  resolves = false,
}: FileContents): Readonly<Record<NetworkFile, string>> {
  return {
    hosts: hostsOf(names, addresses, hosts),
    hostname: `${names[0]}\n`,
    "resolv.conf": resolves ? resolverText(dns, hostResolv) : resolvText(dns, hostResolv, false),
  };
}

/** Entries of /etc/hosts that the task file gives. @param gateway address of the host in its first network */
export function hostsSaid({ network }: TaskSpec, gateway: string | undefined): readonly Named[] {
  return (network?.hosts ?? []).flatMap(({ name, address }) => {
    const known = address === "host-gateway" ? gateway : address;
    return known === undefined ? [] : [{ address: known, names: [name] }];
  });
}

/** `peers`: further names and addresses, such as other tasks in its networks. */
export function hostsOf(names: readonly string[], addresses: readonly string[], peers: readonly Named[]): string {
  const own = addresses.length === 0 ? ["127.0.0.1"] : addresses;
  const entries = [
    { address: "127.0.0.1", names: ["localhost"] },
    { address: "::1", names: ["localhost", "ip6-localhost", "ip6-loopback"] },
    ...own.map((address) => ({ address, names })),
    ...peers,
  ];
  return entries.map(({ address, names }) => `${address}\t${names.join(" ")}\n`).join("");
}

/** The content of resolv.conf, and its mount for tasks for which the engine makes no network. Pure. */
const RESOLV = "/etc/resolv.conf";

/** `isHostNetwork`: whether servers on the host's loopback interface can be reached. Source: resolv.conf(5). */
export function resolvText(dns: DnsSpec | undefined, hostResolv: string, isHostNetwork: boolean): string {
  const { servers, search, options } = inherited(dns, hostResolv);
  const base = isHostNetwork ? servers : servers.filter((server) => !/^(127\.|::1$)/.test(server));
  return textOf({
    servers: distinct([...base, ...(dns?.servers ?? [])]),
    search: distinct([...search, ...(dns?.search ?? [])]),
    options: merged([...options, ...(dns?.options ?? [])]),
  });
}

/**
 * For a task that uses the resolver of its networks. Without ndots:0 a C library would first ask for the name in each domain of `search`, which may
 * belong to somebody else.
 */
function resolverText(dns: DnsSpec | undefined, hostResolv: string): string {
  const { search, options } = inherited(dns, hostResolv);
  return textOf({
    servers: [RESOLVER_ADDRESS],
    search: distinct([...search, ...(dns?.search ?? [])]),
    options: merged([...options, "ndots:0", ...(dns?.options ?? [])]),
  });
}

/** Name servers to which the resolver forwards queries of a task, from the host; empty: the host's name servers. */
export function serversOf(dns: DnsSpec | undefined, hostResolv: string): readonly string[] {
  if (dns === undefined || dns.servers.length === 0) return [];
  return distinct([...inherited(dns, hostResolv).servers, ...dns.servers]);
}

/** @param source path of the file; undefined: the task has none */
export function resolvMounts(source: string | undefined, container: ContainerSpec, config: OciObject | undefined): Mount[] {
  if (source === undefined || isMountedAt(RESOLV, container, config)) return [];
  return [{ destination: RESOLV, source, type: "bind", options: ["bind", "rprivate", "nosuid", "nodev", "noexec", "ro"] }];
}

type Lists = Readonly<Record<"servers" | "search" | "options", readonly string[]>>;

/** What of the host's file stays. */
function inherited(dns: DnsSpec | undefined, hostResolv: string): Lists {
  const { servers, search, options } = parsed(hostResolv);
  const { inherit = false } = dns ?? { inherit: true };
  const isKept = (field: keyof Lists) => (typeof inherit === "boolean" ? inherit : inherit.includes(field));
  return { servers: isKept("servers") ? servers : [], search: isKept("search") ? search : [], options: isKept("options") ? options : [] };
}

/** Of several `search` and `domain` lines the last one counts, as for the resolver. */
function parsed(text: string): Lists {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const all = (keyword: string) => lines.filter(([word]) => word === keyword).map(([, ...values]) => values);
  return {
    servers: all("nameserver").flatMap(([server]) => server ?? []),
    search: lines.findLast(([word]) => word === "search" || word === "domain")?.slice(1) ?? [],
    options: all("options").flat(),
  };
}

function textOf({ servers, search, options }: Lists): string {
  return [
    ...servers.map((server) => `nameserver ${server}\n`),
    ...(search.length === 0 ? [] : [`search ${search.join(" ")}\n`]),
    ...(options.length === 0 ? [] : [`options ${options.join(" ")}\n`]),
  ].join("");
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}

/** A later value of an option, such as "ndots:2", replaces an earlier one in its place. */
function merged(options: readonly string[]): string[] {
  return [...new Map(options.map((option) => [option.split(":")[0]!, option])).values()];
}

/** Whether the user mounts something at this path, in the task file or in config.json of a bundle. */
function isMountedAt(path: string, { mounts }: ContainerSpec, config: OciObject | undefined): boolean {
  const configured = Array.isArray(config?.["mounts"]) ? (config["mounts"] as readonly OciObject[]) : [];
  return mounts.some(({ target }) => target === path) || configured.some(({ destination }) => destination === path);
}
