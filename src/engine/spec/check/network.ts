/** Checks fields of a network that exclude each other. */
import { dotted, numberOf, rangeOf } from "../addresses.ts";
import type { Problem } from "../finding.ts";
import { hostPortOf, sharesAddress } from "../host-port.ts";
import { LINK_MODES, type NetworkSpec } from "../schema/network.ts";
import type { TaskSpec } from "../schema/task.ts";
import { duplicates } from "./names.ts";

export function checkNetwork({ network, namespaces, ports, dns }: TaskSpec): Problem[] {
  const wrong = (message: string, ...path: (string | number)[]): Problem => ({ code: "combination", message, path });
  const problems: Problem[] = [];
  const mode = network?.mode ?? namespaces.network;
  if (ports.length > 0 && mode !== "host") problems.push(wrong(`ports of the host need its network, and the task's is ${mode}`, "ports"));
  if (network === undefined) return problems;
  if (namespaces.network !== "private")
    problems.push(wrong("network says what the containers share: namespaces.network cannot be given, too", "namespaces", "network"));
  if (network.ports.length > 0 && network.mode !== "bridge")
    problems.push(wrong(`port mappings need the mode bridge, and the network's is ${network.mode}`, "network", "ports"));
  if (network.redirects !== undefined && network.mode !== "bridge")
    problems.push(wrong(`redirected ports need the mode bridge, and the network's is ${network.mode}`, "network", "redirects"));
  for (const at of duplicates((network.redirects ?? []).map(({ port, protocol }) => `${port}/${protocol}`))) {
    const { port, protocol } = network.redirects![at]!;
    problems.push({ code: "duplicate-name", message: `${port}/${protocol} is there twice`, path: ["network", "redirects", at] });
  }
  problems.push(...fallbackProblems(network).map((message) => wrong(message, "network", "fallback")));
  if (network.mode === "host" && network.dns !== undefined)
    problems.push(wrong("in the host's network its own resolv.conf counts, and what dns of the task adds", "network", "dns"));
  if (network.mode !== "host" && dns !== undefined) problems.push(wrong("of a network that the engine makes it is network.dns", "dns"));
  if (network.mode === "isolated" && network.interfaces.length === 0)
    problems.push(wrong("the mode isolated needs interfaces", "network", "mode"));
  if (network.mode !== "isolated" && network.interfaces.length > 0)
    problems.push(wrong(`interfaces need the mode isolated, and the network's is ${network.mode}`, "network", "interfaces"));
  if (network.name !== undefined && network.mode !== "bridge")
    problems.push(wrong(`a network with a name needs the mode bridge, and the network's is ${network.mode}`, "network", "name"));
  if (network.link !== undefined && network.ports.length > 0)
    problems.push(wrong(`no port of the host leads to a network of ${network.link.type}: name a bridge first`, "network", "ports"));
  if (network.internal && network.ports.length > 0)
    problems.push(wrong("no port of the host leads to an internal network: name another one first", "network", "ports"));
  if (network.services !== undefined && network.shared === true)
    problems.push(wrong("others than the group are in a network of the whole host: it has no services", "network", "services"));
  for (const at of duplicates((network.services ?? []).map(({ names }) => names[0]!)))
    problems.push({ code: "duplicate-name", message: "the task is a part of it already", path: ["network", "services", at] });
  for (const field of [
    "aliases",
    "services",
    "further",
    "shared",
    "internal",
    "subnet",
    "address",
    "mac",
    "mtu",
    "interface",
    "link",
  ] as const) {
    if (network[field] !== undefined && network.name === undefined) problems.push(wrong("needs the name of a network", "network", field));
  }
  for (const at of duplicates([network, ...(network.further ?? [])].map(({ name = "", shared }) => `${shared ? "shared " : ""}${name}`))) {
    problems.push({
      code: "duplicate-name",
      message: `the task is in ${network.further![at - 1]!.name} already`,
      path: ["network", "further", at - 1],
    });
  }
  for (const [index, one] of [network, ...(network.further ?? [])].entries()) {
    const place = ["network", ...(index === 0 ? [] : ["further", index - 1])];
    for (const { path, message } of linkProblems(one)) problems.push(wrong(message, ...place, ...path));
    for (const { path, message } of addressProblems(one))
      problems.push(wrong(message, "network", ...(index === 0 ? [] : ["further", index - 1]), path));
  }
  const named = [network, ...(network.further ?? [])].map((one) => one.interface ?? "");
  for (const at of duplicates(named).filter((one) => named[one] !== "")) {
    const place = at === 0 ? [] : ["further", at - 1];
    problems.push({
      code: "duplicate-name",
      message: `the interface ${named[at]} is there twice`,
      path: ["network", ...place, "interface"],
    });
  }
  if (network.proxy !== undefined && network.mode === "host")
    problems.push(wrong("the connections of the host are not those of a task", "network", "proxy"));
  const { egress, ingress, transparent } = network.proxy ?? {};
  if (network.proxy !== undefined && [egress, ingress, transparent].every((one) => one === undefined))
    problems.push(wrong("needs egress, ingress or transparent", "network", "proxy"));
  if (transparent !== undefined && network.name === undefined)
    problems.push(wrong("needs a network with a name: others have no way here", "network", "proxy", "transparent"));
  if (network.via !== undefined && network.name === undefined)
    problems.push(wrong("needs a network with a name: there is no way to others", "network", "via"));
  network.interfaces.forEach(({ association, vlan }, at) => {
    if ((association === "vlan") !== (vlan !== undefined))
      problems.push(wrong("association vlan and the tag of a vlan belong together", "network", "interfaces", at, "vlan"));
  });
  // The engine chooses different ports for mappings with a range.
  const addresses = new Map<string, (string | undefined)[]>();
  for (const [index, port] of network.ports.entries()) {
    if (port.service !== undefined && port.address?.includes(":"))
      problems.push(
        wrong("the port of a service needs an IPv4 address: connections of IPv6 are not distributed", "network", "ports", index),
      );
    if (port.host === undefined && port.hostRange !== undefined) continue;
    const name = hostPortOf(port);
    const before = addresses.get(name) ?? [];
    if (before.some((one) => sharesAddress(one, port.address)))
      problems.push({ code: "duplicate-name", message: `${name} is there twice`, path: ["network", "ports", index] });
    addresses.set(name, [...before, port.address]);
  }
  return problems;
}

function linkProblems({ link, mac }: Pick<NetworkSpec, "link" | "mac">): { readonly path: string[]; readonly message: string }[] {
  if (link === undefined) return [];
  const modes: readonly string[] = LINK_MODES[link.type];
  if (link.mode !== undefined && !modes.includes(link.mode))
    return [{ path: ["link", "mode"], message: `is none of ${link.type}: ${modes.join(", ")}` }];
  return link.type === "ipvlan" && mac !== undefined
    ? [{ path: ["mac"], message: "interfaces of ipvlan have the address of their parent" }]
    : [];
}

/** A task that can do without the network asks for nothing that only the network can give. */
function fallbackProblems({ fallback, mode, name, ports, redirects, proxy, hosts = [] }: NetworkSpec): string[] {
  if (fallback === undefined) return [];
  if (mode !== "bridge") return [`a fallback needs the mode bridge, and the network's is ${mode}`];
  const needed = {
    "a network with a name": name !== undefined,
    "a port of the host": ports.length > 0,
    "a redirected port": redirects !== undefined,
    "a proxy": proxy !== undefined,
    "the address of the host (host-gateway)": hosts.some(({ address }) => address === "host-gateway"),
  };
  return Object.entries(needed).flatMap(([what, isAsked]) => (isAsked ? [`${what} needs the network: there is no fallback`] : []));
}

type Addressed = Pick<NetworkSpec, "shared" | "subnet" | "gateway" | "range" | "reserved" | "address">;

/** Longest prefix of a network: that of two addresses, besides its own and that of all of it. */
const LONGEST_PREFIX = 30;

function addressProblems({ subnet, shared, ...others }: Addressed): { readonly path: string; readonly message: string }[] {
  if (subnet === undefined)
    return Object.entries(pickAddresses(others)).flatMap(([path, value]) =>
      // A network of the whole host may have been made by others: whether the address is in it is seen when the task gets it.
      value === undefined || (shared && path === "address") ? [] : [{ path, message: "needs the subnet of the network" }],
    );
  const whole = rangeOf(subnet)!;
  const length = Number(subnet.split("/")[1]);
  if (dotted(whole.first) !== subnet.split("/")[0])
    return [{ path: "subnet", message: `is no network: write ${dotted(whole.first)}/${length}` }];
  if (length > LONGEST_PREFIX || length === 0) return [{ path: "subnet", message: `has a prefix from 1 to ${LONGEST_PREFIX}` }];
  const host = numberOf(others.gateway ?? dotted(whole.first + 1));
  return Object.entries(pickAddresses(others)).flatMap(([path, value]) => {
    const wrong = [value ?? []].flat().flatMap((one) => {
      const { first, last } = rangeOf(one)!;
      if (first < whole.first || last > whole.last) return [`${one} is not in ${subnet}`];
      if (path === "range") return [];
      if (first === whole.first || first === whole.last) return [`${one} is of the whole network`];
      return path === "address" && first === host ? [`${one} is that of the host`] : [];
    });
    return wrong.map((message) => ({ path, message }));
  });
}

function pickAddresses({
  gateway,
  range,
  reserved,
  address,
}: Omit<Addressed, "shared" | "subnet">): Record<string, string | readonly string[] | undefined> {
  return { gateway, range, reserved, address };
}
