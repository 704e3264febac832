/** Services whose network_mode is the name of a network. Source: Docker, "docker run --network"; moby, api/types/container/hostconfig_unix.go. */
import type { ComposeInput, ServiceInput } from "./schema.ts";

const OTHERS = /^(?:none|host|bridge|(?:service|container):.*)$/s;

/** The service gets a network that is external and has this name: Docker looks it up among all networks of the host. */
export function withNamedModes(project: ComposeInput): ComposeInput {
  const added: Record<string, { readonly external: true; readonly name: string }> = {};
  const services = Object.entries(project.services).map(([key, service]): [string, ServiceInput] => {
    const { network_mode: mode, networks = [], ...rest } = service;
    const isNamed = mode !== undefined && !OTHERS.test(mode);
    // Both together are refused where networks are translated.
    if (!isNamed || Object.keys(networks).length > 0) return [key, service];
    const own = `network_mode-${mode}`;
    added[own] = { external: true, name: mode };
    return [key, { ...rest, networks: [own] }];
  });
  if (Object.keys(added).length === 0) return project;
  return { ...project, services: Object.fromEntries(services), networks: { ...project.networks, ...added } };
}
