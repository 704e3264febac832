/** Networks and volumes of a file that are made by others, or that no service uses. */
import type { Problem } from "../../engine/spec/index.ts";
import { type Fields, fieldsOf, isMap } from "./fields.ts";

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

function networksOf({ networks, network_mode: mode }: Fields): unknown[] {
  const names = Array.isArray(networks) ? networks : Object.keys(fieldsOf(networks));
  return names.length > 0 || mode !== undefined ? names : ["default"];
}

function volumesOf({ volumes }: Fields): unknown[] {
  return (Array.isArray(volumes) ? volumes : []).map((one) => (typeof one === "string" ? one.split(":")[0] : fieldsOf(one)["source"]));
}
