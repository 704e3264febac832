/** Translates dnsPolicy and dnsConfig. There is no DNS of a cluster, so that ClusterFirst means Default, as for a kubelet without a cluster DNS. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { PodInput } from "../schema/pod.ts";

/** undefined: the pod adds nothing to what the host says. */
export function dnsOf({ spec: { dnsPolicy, dnsConfig } }: PodInput): TaskInput["dns"] {
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
