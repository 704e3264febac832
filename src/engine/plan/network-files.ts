/** Contents of hosts, hostname and resolv.conf for the containers of a task with its own network. Pure. */
import type { Mount, OciObject } from "../../executor/index.ts";
import type { ContainerSpec, NetworkSpec, TaskSpec } from "../spec/index.ts";
import { resolvText } from "./name-servers.ts";
import { isMountedAt } from "./taken.ts";

/** Names of the files, which are mounted below /etc in the containers. */
export const NETWORK_FILES = ["hosts", "hostname", "resolv.conf"] as const;
export type NetworkFile = (typeof NETWORK_FILES)[number];

export interface NetworkPlacement {
  /** Path to which the network namespace is bound. */
  readonly path: string;
  /** Directory of the files. */
  readonly files: string;
}

/** A path on which the user mounts something else is left alone. */
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
  /** Those that the task says itself. */
  readonly hosts?: readonly Named[];
}

export function fileContents({ names, addresses, dns, hostResolv, hosts = [] }: FileContents): Readonly<Record<NetworkFile, string>> {
  return {
    hosts: hostsOf(names, addresses, hosts),
    hostname: `${names[0]}\n`,
    "resolv.conf": resolvText(dns, hostResolv, false),
  };
}

/** Lines of /etc/hosts that the task says. @param addresses with their prefixes: a bridge has the first address of its network */
export function hostsSaid({ network }: TaskSpec, addresses: readonly string[]): readonly Named[] {
  const gateway = addresses.map(firstOf).find((one) => one !== undefined);
  return (network?.hosts ?? []).flatMap(({ name, address }) => {
    const known = address === "host-gateway" ? gateway : address;
    return known === undefined ? [] : [{ address: known, names: [name] }];
  });
}

/** undefined: it is no address of IPv4 with a prefix. */
function firstOf(address: string): string | undefined {
  const [ip = "", length = ""] = address.split("/");
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(ip) || length === "") return undefined;
  const value = ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(length));
  const first = Math.floor(value / size) * size + 1;
  return [24, 16, 8, 0].map((bits) => Math.floor(first / 2 ** bits) % 256).join(".");
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
