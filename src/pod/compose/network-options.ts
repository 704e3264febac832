/** Options of the drivers of networks. */
import { z } from "zod";

/** Options of the bridge driver that are accepted only with this value, which holds in any case. */
const BRIDGE_HOLDS: Readonly<Record<string, string>> = {
  "com.docker.network.bridge.default_bridge": "false",
  "com.docker.network.bridge.enable_icc": "true",
  "com.docker.network.bridge.enable_ip_masquerade": "true",
  "com.docker.network.bridge.gateway_mode_ipv4": "nat",
  "com.docker.network.container_iface_prefix": "eth",
  "com.docker.network.enable_ipv4": "true",
  "com.docker.network.enable_ipv6": "false",
};

/** Docker gives the bridge this name on the host. It has no effect (unused.ts): by the names of its bridges the engine recognises them. */
export const BRIDGE_NAME = "com.docker.network.bridge.name";

const MTU = "com.docker.network.driver.mtu";
const BINDING = "com.docker.network.bridge.host_binding_ipv4";

/** Options of macvlan and ipvlan, with the values that they have. Source: Docker, "Macvlan network driver", "IPvlan network driver". */
const OF_LINKS: Readonly<Record<string, RegExp>> = {
  parent: /^[^\s/:]{1,15}$/,
  macvlan_mode: /^(?:bridge|private|vepa|passthru)$/,
  ipvlan_mode: /^(?:l2|l3|l3s)$/,
  ipvlan_flag: /^bridge$/,
};

export interface NetworkOptions {
  mtu?: number;
  binding?: string;
  parent?: string;
  macvlan_mode?: "bridge" | "private" | "vepa" | "passthru";
  ipvlan_mode?: "l2" | "l3" | "l3s";
  ipvlan_flag?: "bridge";
}

/** What options and driver of a network say that does not go together. */
export function linkProblems(
  driver: string,
  { mtu: _, ...options }: NetworkOptions,
): { readonly option: string[]; readonly message: string }[] {
  const isLink = driver === "macvlan" || driver === "ipvlan";
  const wrong = Object.keys(options).find((name) => {
    if (name === "binding") return isLink;
    return !isLink || (name !== "parent" && !name.startsWith(driver));
  });
  if (wrong !== undefined) return [{ option: [wrong === "binding" ? BINDING : wrong], message: `is no option of ${driver}` }];
  if (isLink && options.parent === undefined)
    return [{ option: [], message: `needs parent: the interface of the host on which ${driver} is made` }];
  return [];
}

/** Source: Docker, "Bridge network driver", options. */
export const bridgeOptions = z.record(z.string(), z.union([z.string(), z.int(), z.boolean()])).transform((given, { addIssue }) => {
  const found: NetworkOptions = {};
  for (const [name, one] of Object.entries(given)) {
    const refuse = (message: string) => addIssue({ code: "custom", message, path: [name] });
    const value = String(one);
    const only = BRIDGE_HOLDS[name];
    if (name === BRIDGE_NAME) continue;
    if (name === MTU) {
      if (/^\d{2,5}$/.test(value) && Number(value) >= 68 && Number(value) <= 65_535) found.mtu = Number(value);
      else refuse("is a number of bytes from 68 to 65535");
    } else if (name === BINDING) {
      if (z.ipv4().safeParse(value).success) found.binding = value;
      else refuse("is no address of IPv4");
    } else if (OF_LINKS[name] !== undefined) {
      if (OF_LINKS[name].test(value)) Object.assign(found, { [name]: value });
      else refuse(`${value} is not supported`);
    } else if (only === undefined) {
      refuse(`is not supported: ${[MTU, BINDING].join(" and ")} are, and the engine names its bridges itself`);
    } else if (value.toLowerCase() !== only) {
      refuse(`only ${only} is supported`);
    }
  }
  return found;
});
