/** Networks of containers and pods. Source: podman-systemd.unit(5), "Network"; podman-run(1), "--network". */
import type { Draft } from "./draft.ts";
import type { Unit, Value } from "./unit.ts";
import type { Entry } from "./unit-text.ts";

/** Keys that belong to the pod of a container. */
export const OF_POD = [
  "AddHost",
  "DNS",
  "DNSOption",
  "DNSSearch",
  "IP",
  "HostName",
  "Network",
  "NetworkAlias",
  "PublishPort",
  "Sysctl",
  "UserNS",
] as const;

const MODES = ["host", "none", "bridge"];
const FOREIGN = /^(?:slirp4netns|pasta|ns|container|private|pod)$/;
/** Options of a network, by what Compose calls them. */
const OPTIONS: Readonly<Record<string, string>> = { ip: "ipv4_address", mac: "mac_address", interface_name: "interface_name" };

export interface NetworkPlace {
  readonly units: ReadonlyMap<string, Unit>;
  /** Called with the name of a network that no file describes. */
  readonly uses: (name: string) => string;
}

/** @returns the container whose network it is in, and the key of its first network */
export function addNetworks(draft: Draft, section: "Container" | "Pod", place: NetworkPlace): { readonly owner?: Unit } {
  const { unit } = draft;
  const hosts = unit.texts(section, "AddHost");
  for (const { text, entry } of hosts) draft.add("extra_hosts", text, entry);
  for (const [key, field] of [
    ["DNS", "dns"],
    ["DNSOption", "dns_opt"],
    ["DNSSearch", "dns_search"],
  ] as const)
    for (const { text, entry } of unit.texts(section, key)) draft.add(field, text, entry);
  for (const { text, entry } of unit.texts(section, "PublishPort")) draft.add("ports", text, entry);
  const found = unit.texts(section, "Network").map((value) => networkIn(value, unit, place));
  const attached = found.flatMap((one) => (one !== undefined && "key" in one ? [one] : []));
  const [mode] = found.flatMap((one) => (one !== undefined && "mode" in one ? [one] : []));
  const [owner] = found.flatMap((one) => (one !== undefined && "owner" in one ? [one] : []));
  if (found.length > 1 && (mode ?? owner) !== undefined) unit.refuse("is the only network of a container", (mode ?? owner)!.entry);
  const aliases = unit.texts(section, "NetworkAlias");
  const address = unit.text(section, "IP");
  if (address !== undefined && attached.length !== 1) unit.refuse("needs one network of a file .network", address.entry);
  if (aliases.length > 0 && attached.length === 0) unit.refuse("needs a network of a file .network", aliases[0]!.entry);
  for (const [index, { key, entry, options, aliases: own }] of attached.entries()) {
    const said = {
      ...options,
      ...(address !== undefined && index === 0 ? { ipv4_address: address.text } : {}),
      aliases: [...own, ...aliases.map(({ text }) => text)],
    };
    draft.put("networks", key, said, entry);
  }
  if (owner !== undefined) {
    for (const key of OF_POD.filter((one) => one !== "Network" && one !== "Sysctl" && one !== "UserNS")) {
      const [value] = unit.texts(section, key);
      if (value !== undefined) unit.refuse(`belongs to ${owner.owner.file}, whose network the container is in`, value.entry);
    }
    draft.set("network_mode", "none", owner.entry);
    return { owner: owner.owner };
  }
  const first = unit.texts(section, "Network")[0]?.entry;
  if (mode !== undefined) draft.set("network_mode", mode.mode, mode.entry);
  else if (found.length === 0) draft.fields["network_mode"] = "bridge";
  else if (first !== undefined && attached.length === 0) draft.set("network_mode", "bridge", first);
  return {};
}

interface Attached {
  readonly key: string;
  readonly entry: Entry;
  /** By what Compose calls them. */
  readonly options: Readonly<Record<string, string>>;
  readonly aliases: readonly string[];
}

/** undefined: it was refused. */
function networkIn(
  value: Value,
  unit: Unit,
  { units, uses }: NetworkPlace,
): Attached | { readonly mode: string; readonly entry: Entry } | { readonly owner: Unit; readonly entry: Entry } | undefined {
  const { text, entry } = value;
  const at = text.indexOf(":");
  const [name, written] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  const refuse = (message: string) => {
    unit.refuse(message, entry);
    return undefined;
  };
  if (MODES.includes(name)) return written === "" ? { mode: name, entry } : refuse(`options of ${name} are not supported`);
  if (FOREIGN.test(name)) return refuse(`${name} is not supported: name a file .network, host, none or bridge`);
  const isFile = /\.(?:network|container)$/.test(name);
  const found = units.get(name);
  if (isFile && found === undefined) return refuse(`there is no file ${name}`);
  if (found?.kind === "container")
    return written === "" ? { owner: found, entry } : refuse("has no options where the network is another container's");
  const options: Record<string, string> = {};
  const aliases: string[] = [];
  for (const part of written.split(",").filter(Boolean)) {
    const [option = "", ...rest] = part.split("=");
    const word = rest.join("=");
    if (option === "alias") aliases.push(word);
    else if (Object.hasOwn(OPTIONS, option)) options[OPTIONS[option]!] = word;
    else return refuse(`the option ${option} of a network is not supported`);
  }
  return { key: isFile ? name : uses(name), entry, options, aliases };
}
