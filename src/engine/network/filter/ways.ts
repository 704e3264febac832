/** Which ways a task has, from its attachment. Pure. */
import type { NetworkStep, PortForward } from "../../plan/index.ts";
import type { CniResult } from "../answer.ts";
import { withoutPrefix } from "../files.ts";
import type { BridgePort, TaskHolds, TaskWays } from "./filter.ts";

export function holdsOf(steps: readonly NetworkStep[], results: readonly CniResult[]): TaskHolds {
  return { ways: waysOf(steps, results), ports: bridgePortsOf(steps, results) };
}

/** Whether the task has nothing on the host. */
export function isEmpty({ ways, ports }: TaskHolds): boolean {
  return ways.length === 0 && ports.length === 0;
}

/** A task of an earlier version may be a transparent proxy. Of results of the plugin bridge: it names the bridge, the interface of the host and that of the task, each once. */
export function bridgePortsOf(steps: readonly NetworkStep[], results: readonly CniResult[]): BridgePort[] {
  return steps.flatMap(({ plugins, relays = true }, at) => {
    const bridge = plugins.find(({ type }) => type === "bridge")?.["bridge"];
    const { interfaces = [], ips = [] } = results[at] ?? {};
    const ofHost = interfaces.filter(({ name, sandbox = "" }) => sandbox === "" && name !== bridge);
    const mac = interfaces.find(({ sandbox = "" }) => sandbox !== "")?.mac?.toLowerCase();
    if (typeof bridge !== "string" || ofHost.length !== 1 || mac === undefined || !MAC.test(mac)) return [];
    const addresses = ips.map(({ address }) => withoutPrefix(address)).filter((one) => !one.includes(":"));
    return [{ port: ofHost[0]!.name, mac, addresses, isRelay: relays }];
  });
}

const MAC = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/;

/** The ways of each step behind a bridge that has a way out, and an address of IPv4. */
export function waysOf(steps: readonly NetworkStep[], results: readonly CniResult[]): TaskWays[] {
  return steps.flatMap(({ name: network, nat, plugins }, at) => {
    const range = results[at]?.ips?.map(({ address }) => address).find((one) => one.includes("."));
    const bridge = plugins.find(({ type }) => type === "bridge")?.["bridge"];
    if (nat === undefined || range === undefined || typeof bridge !== "string") return [];
    // A task has no address of IPv6 behind a bridge, to which a port of such an address could lead.
    const ports = nat.filter(({ address }) => address?.includes(":") !== true);
    return [{ network, bridge, range, ports }];
  });
}

/** Steps of which earlier versions have left some of the work to plugins, `portmap` and `ipMasq` of the plugin bridge, as they would be without these. */
export function withoutOldPlugins(steps: readonly NetworkStep[]): readonly NetworkStep[] {
  return steps.map((step) => {
    const { nat, plugins } = withProtocols(step);
    if (!plugins.some(({ type, ipMasq }) => type === "portmap" || ipMasq === true)) return withProtocols(step);
    const others = plugins.filter(({ type }) => type !== "portmap").map(({ ipMasq: _, type, ...rest }) => ({ ...rest, type }));
    return { ...step, plugins: others, nat: [...(nat ?? []), ...plugins.flatMap(mappedBy)] };
  });
}

/** Earlier versions made such rules for TCP only, and did not say so. */
function withProtocols(step: NetworkStep): NetworkStep {
  return step.nat === undefined ? step : { ...step, nat: step.nat.map((one) => ({ ...one, protocol: one.protocol ?? "tcp" })) };
}

interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: "tcp" | "udp";
  readonly hostIP?: string;
}

function mappedBy({ type, runtimeConfig }: NetworkStep["plugins"][number]): PortForward[] {
  if (type !== "portmap") return [];
  const { portMappings = [] } = (runtimeConfig ?? {}) as { readonly portMappings?: readonly PortMapping[] };
  return portMappings.map(({ hostPort: host, containerPort: container, protocol, hostIP: address }) => ({
    host,
    container,
    protocol,
    address,
  }));
}
