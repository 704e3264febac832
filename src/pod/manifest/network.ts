/** Translates the network of a pod: its address, ports, services and names. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { PodInput } from "../schema/pod.ts";
import { addressVariables } from "./downward.ts";
import { type Member, membersOf } from "./members.ts";
import type { Translation } from "./translation.ts";

/**
 * The engine makes a network for every pod that has neither the network of the host nor comes from a cluster whose pods have only loopback. A pod that
 * asks for nothing that only a network can give starts without it where the host cannot make one. undefined: the engine makes none.
 */
export function networkOf(at: Translation): TaskInput["network"] {
  const { hostNetwork, hostAliases } = at.pod.spec;
  const members = membersOf(at.pod);
  const { cluster } = at.host;
  if (hostNetwork) return undefined;
  const published = publishedBy(members);
  const membership = at.services.of(at.pod);
  const isNeeded = cluster?.network === "bridge" || published.length > 0 || membership !== undefined || asksAddress(members, at);
  if (cluster?.network === "none" && !isNeeded) return undefined;
  const dns = dnsOf(at.pod);
  const hosts = hostAliases.flatMap(({ ip, hostnames }) => hostnames.map((host) => ({ name: host, address: ip })));
  const { name, services = [], redirects = [], ports = [] } = membership ?? {};
  return {
    mode: "bridge" as const,
    ...(isNeeded ? {} : { fallback: "none" as const }),
    ports: [...published, ...ports],
    ...(name === undefined ? {} : { name }),
    ...(services.length === 0 ? {} : { services: [...services] }),
    ...(redirects.length === 0 ? {} : { redirects: [...redirects] }),
    ...(hosts.length === 0 ? {} : { hosts }),
    ...(dns === undefined ? {} : { dns }),
  };
}

/** resolv.conf of a pod for which the engine makes no network. */
export function dnsWithoutNetwork(pod: PodInput): Pick<TaskInput, "dns"> {
  const dns = dnsOf(pod);
  return pod.spec.hostNetwork || dns !== undefined ? { dns: dns ?? { inherit: true } } : {};
}

/** Whether a container has the address of the pod in a variable, so that the pod needs an address. */
function asksAddress(members: readonly Member[], { pod }: Translation): boolean {
  return members.some(({ container }) => addressVariables(pod, container).length > 0);
}

/** SCTP on a port of the host is refused (checkPod). */
export function protocolOf(written: ContainerInput["ports"][number]["protocol"]): "tcp" | "udp" {
  return written === "UDP" ? "udp" : "tcp";
}

type PublishedPorts = NonNullable<NonNullable<TaskInput["network"]>["ports"]>;

/** Host ports that are forwarded to ports of the pod. */
function publishedBy(members: readonly Member[]): PublishedPorts {
  return members.flatMap(({ container }) =>
    container.ports.flatMap(({ containerPort, hostPort, hostIP, protocol }) =>
      hostPort === undefined
        ? []
        : [
            {
              container: containerPort,
              host: hostPort,
              protocol: protocolOf(protocol),
              ...(hostIP === undefined || ANY.has(hostIP) ? {} : { address: hostIP }),
            },
          ],
    ),
  );
}

/** Host addresses that mean all addresses of the host. */
const ANY: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""]);

/**
 * Translates dnsPolicy and dnsConfig. There is no DNS of a cluster, so that ClusterFirst means Default, as for a kubelet without a cluster DNS.
 * undefined: the pod changes nothing in the host's settings.
 */
function dnsOf({ spec: { dnsPolicy, dnsConfig } }: PodInput): TaskInput["dns"] {
  const { nameservers: servers, searches: search, options } = dnsConfig ?? { nameservers: [], searches: [], options: [] };
  const isInherited = dnsPolicy !== "None";
  if (isInherited && [servers, search, options].every((list) => list.length === 0)) return undefined;
  return {
    ...(isInherited ? { inherit: true } : {}),
    servers,
    search,
    options: options.map(({ name, value }) => (value ? `${name}:${value}` : name)),
  };
}
