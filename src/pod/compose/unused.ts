/** Networks and volumes of a file that are made by others, or that no service uses. */
import type { Problem } from "../../engine/spec/index.ts";
import { type Fields, fieldsOf, isMap } from "./fields.ts";
import { BRIDGE_NAME } from "./network-options.ts";

/** Compose uses only the name of an external network. Adds a warning for each further field, which is left out. */
export function withNamesOnly(value: unknown, warnings: Problem[]): unknown {
  const { networks } = fieldsOf(value);
  if (!isMap(networks)) return value;
  const all = Object.entries(networks).map(([key, network]) => {
    const { external, name, ...others } = fieldsOf(network);
    if (!isMap(external) && !/^(?:true|y|yes|on)$/i.test(String(external))) return [key, network];
    for (const field of Object.keys(others))
      warnings.push({
        code: "shape",
        message: "has no effect, as with Compose: the network is made by others",
        path: ["networks", key, field],
      });
    return [key, { external, ...(name === undefined ? {} : { name }) }];
  });
  return { ...fieldsOf(value), networks: Object.fromEntries(all) };
}

/** Whether the problem is the driver of something that no service uses, and that Compose therefore does not make. */
export function isOfUnused({ path: [kind, name, field] }: Problem, value: unknown): boolean {
  if ((kind !== "networks" && kind !== "volumes") || (field !== "driver" && field !== "driver_opts")) return false;
  const services = Object.values(fieldsOf(fieldsOf(value)["services"])).map(fieldsOf);
  return !services.some((service) => (kind === "networks" ? networksOf(service) : volumesOf(service)).includes(String(name)));
}

/**
 * Names on the host that are none here. A volume is a directory of its project: a name does not make it one of the host, as it does with Docker.
 */
export function tellNames(value: unknown, warnings: Problem[]): void {
  const { services, volumes, networks } = fieldsOf(value);
  for (const [key, network] of Object.entries(fieldsOf(networks))) {
    const isNamed = fieldsOf(fieldsOf(network)["driver_opts"])[BRIDGE_NAME] !== undefined;
    const message = "has no effect: the engine names its bridges itself";
    if (isNamed) warnings.push({ code: "shape", message, path: ["networks", key, "driver_opts", BRIDGE_NAME] });
  }
  const used = Object.values(fieldsOf(services)).map(fieldsOf).flatMap(volumesOf);
  for (const [key, volume] of Object.entries(fieldsOf(volumes))) {
    const { name, external, driver_opts: options } = fieldsOf(volume);
    const isMadeHere = external === undefined || external === false;
    if (typeof name !== "string" || !isMadeHere || options !== undefined || !used.includes(key)) continue;
    const message = "is the name in this project only: other projects have a volume of their own with this name";
    warnings.push({ code: "combination", message, path: ["volumes", key, "name"] });
  }
}

function networksOf({ networks, network_mode: mode }: Fields): unknown[] {
  const names = Array.isArray(networks) ? networks : Object.keys(fieldsOf(networks));
  return names.length > 0 || mode !== undefined ? names : ["default"];
}

function volumesOf({ volumes }: Fields): unknown[] {
  return (Array.isArray(volumes) ? volumes : []).map((one) => (typeof one === "string" ? one.split(":")[0] : fieldsOf(one)["source"]));
}
