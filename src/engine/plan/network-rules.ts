/** Rules in the network namespace of a task, as data: src/engine/network/filter renders them for the packet filter that the engine has chosen. Pure. */
import type { NetworkSpec } from "../spec/index.ts";

type Proxy = NonNullable<NetworkSpec["proxy"]>;

/** What is set once, when the network is made. It disappears with the namespace. */
export interface TaskRules {
  /** Ports of the task's addresses that lead to others of it, for others and for itself. */
  readonly redirects: NonNullable<NetworkSpec["redirects"]>;
  /** Connections that the task makes go to the proxy, except those of the proxy itself, which would loop. */
  readonly egress?: (NonNullable<Proxy["egress"]> & { readonly user: number }) | undefined;
  /** Connections to ports of the task go to the proxy. */
  readonly ingress?: Proxy["ingress"];
  /** Connections that pass through the task go to the proxy, which sees their original destination because the packets are not rewritten. */
  readonly transparent?: Proxy["transparent"];
}

/** undefined: the task needs none. */
export function taskRules({ redirects = [], proxy }: Pick<NetworkSpec, "redirects" | "proxy">): TaskRules | undefined {
  const { user, egress, ingress, transparent } = proxy ?? {};
  if (redirects.length === 0 && [egress, ingress, transparent].every((one) => one === undefined)) return undefined;
  return {
    redirects,
    ...(egress === undefined ? {} : { egress: { ...egress, user: user! } }),
    ...(ingress === undefined ? {} : { ingress }),
    ...(transparent === undefined ? {} : { transparent }),
  };
}

/** Mark of packets for a transparent proxy, and the routing table that delivers them. Both are local to the namespace of the task. */
export const TRANSPARENT_MARK = "0x1";
export const TRANSPARENT_TABLE = 100;

/** A service as one task of its network reaches it: connections to each port go to one of those that serve it, with the same probability, and all others to its address are refused. */
export interface ReachedService {
  /** Of IPv4. */
  readonly address: string;
  /** `to`: such as "10.64.0.2:8080". */
  readonly ports: readonly { readonly port: number; readonly protocol: "tcp" | "udp"; readonly to: readonly string[] }[];
}
