/** Translates the networks of a service: the default network of the project, or those that it names. Source: Compose specification, "networks". */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ServicePlace } from "./mounts.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

type Network = NonNullable<TaskInput["network"]>;

/** The network of services that name none. */
const DEFAULT = "default";

/** undefined: the service uses the host's network, or has none. */
export function networkOf(service: ServiceInput, project: ComposeInput, ports: Network["ports"], place: ServicePlace): Network | undefined {
  const { network_mode: mode, networks: given } = service;
  if (mode !== undefined) {
    if (given !== undefined) place.refuse(`with network_mode ${mode} there are no networks`, ["networks"]);
    for (const field of ["dns", "dns_search", "dns_opt"] as const) {
      if (service[field] !== undefined) place.refuse(`with network_mode ${mode} resolv.conf stays as it is`, [field]);
    }
    return undefined;
  }
  const all =
    given === undefined
      ? [[DEFAULT, null] as const]
      : Array.isArray(given)
        ? given.map((name) => [name, null] as const)
        : Object.entries(given);
  if (all.length === 0) place.refuse("names none: write network_mode none", ["networks"]);
  for (const [name] of all) {
    if (name !== DEFAULT && project.networks?.[name] === undefined) place.refuse(`the file has no network ${name}`, ["networks"]);
  }
  // A container_name can be used as a host name too.
  const { container_name: own } = service;
  const [first = { name: DEFAULT }, ...further] = all.map(([name, said]) => {
    const aliases = [...new Set([...(own === undefined ? [] : [own]), ...(said?.aliases ?? [])])];
    return { name, ...(aliases.length === 0 ? {} : { aliases }) };
  });
  const list = (value: string | string[] | undefined) => (typeof value === "string" ? [value] : (value ?? []));
  const dns = { servers: list(service.dns), search: list(service.dns_search), options: service.dns_opt ?? [] };
  const saysDns = Object.values(dns).some((one) => one.length > 0);
  return { mode: "bridge", ...first, ...(further.length === 0 ? {} : { further }), ports: ports ?? [], ...(saysDns ? { dns } : {}) };
}
