/** Translates files ".volume" and ".network" to those of a Compose file. Source: podman-systemd.unit(5), "Volume units", "Network units". */
import { Draft } from "./draft.ts";
import type { Unit } from "./unit.ts";

/** Podman's name of what has none of its own. */
export function podmanName(base: string): string {
  return `systemd-${base}`;
}

/** undefined: it is an image, and no directory. */
export function volumeDraft(unit: Unit): Draft | undefined {
  const draft = new Draft(unit);
  const name = unit.text("Volume", "VolumeName");
  const driver = unit.text("Volume", "Driver");
  const image = unit.text("Volume", "Image");
  if (driver?.text === "image") {
    if (image === undefined) unit.refuse("needs Image", driver.entry);
    return undefined;
  }
  if (image !== undefined) unit.refuse("needs Driver=image", image.entry);
  if (driver !== undefined && driver.text !== "local") unit.refuse("only local and image are supported", driver.entry);
  if (name === undefined) draft.fields["name"] = podmanName(unit.base);
  else draft.take("name", name);
  const device = unit.text("Volume", "Device");
  for (const key of ["Type", "Options"] as const) {
    const value = unit.text("Volume", key);
    if (value === undefined) continue;
    if (device === undefined) unit.refuse("needs Device", value.entry);
    else draft.put("driver_opts", key === "Type" ? "type" : "o", value.text, value.entry);
  }
  if (device !== undefined) draft.put("driver_opts", "device", device.text, device.entry);
  return draft;
}

const MTU = "com.docker.network.driver.mtu";

export function networkDraft(unit: Unit): Draft {
  const draft = new Draft(unit);
  draft.take("name", unit.text("Network", "NetworkName"));
  const driver = unit.text("Network", "Driver");
  if (driver !== undefined && driver.text !== "bridge")
    unit.refuse("only bridge is supported: the engine makes bridges of this host", driver.entry);
  const ipam = unit.text("Network", "IPAMDriver");
  if (ipam !== undefined && ipam.text !== "host-local")
    unit.refuse("only host-local is supported: the engine chooses addresses", ipam.entry);
  for (const key of ["DisableDNS", "IPv6"] as const) {
    const flag = unit.flag("Network", key);
    if (flag?.is) unit.refuse(key === "IPv6" ? "only false is supported: networks have IPv4" : "only false is supported", flag.entry);
  }
  const internal = unit.flag("Network", "Internal");
  if (internal?.is) draft.set("internal", true, internal.entry);
  const config: Record<string, string> = {};
  for (const [key, field] of [
    ["Subnet", "subnet"],
    ["Gateway", "gateway"],
    ["IPRange", "ip_range"],
  ] as const) {
    const [value, second] = unit.texts("Network", key);
    if (second !== undefined) unit.refuse("only one is supported: a network has one range of IPv4", second.entry);
    if (value === undefined) continue;
    config[field] = value.text;
    draft.put("ipam", field, value.text, value.entry);
  }
  if (Object.keys(config).length > 0) draft.fields["ipam"] = { config: [config] };
  for (const [name, { text, entry }] of unit.pairs("Network", "Options")) {
    if (name === "mtu") draft.put("driver_opts", MTU, text, entry);
    else unit.refuse(`the option ${name} is not supported: only mtu is`, entry);
  }
  return draft;
}
