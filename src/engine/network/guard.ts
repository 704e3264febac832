/**
 * Bridges of tasks, as the packet filter of the host guards them: packets that come from a bridge, whatever a task has changed in its own namespace, and packets that others
 * send to addresses behind it. These are rules of IPv4: a bridge has no other addresses, and the host takes nothing of IPv6 from it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { NetworkStep } from "../plan/index.ts";
import { dotted, rangeOf } from "../spec/index.ts";
import type { Attachment, Attachments } from "./attachments.ts";
import { NetworkError } from "./errors.ts";
import type { GuardedBridge, PacketFilter } from "./filter/filter.ts";
import { bridgedIn, hostOf } from "./resolver-names.ts";

export class BridgeGuards {
  readonly #attachments: Attachments;
  readonly #filter: Pick<PacketFilter, "guard">;
  /** Tasks whose networks are being given back: their addresses may be another task's soon. */
  readonly #leaving = new Set<string>();

  constructor(attachments: Attachments, filter: Pick<PacketFilter, "guard">) {
    this.#attachments = attachments;
    this.#filter = filter;
  }

  /** Writes the rules of the bridges of a task, unless they are there. @throws NetworkError program-missing, program-failed */
  async guard(steps: readonly NetworkStep[]): Promise<void> {
    const bridges = bridgesIn(steps);
    closeIpv6(bridges);
    if (bridges.length > 0) await this.#filter.guard(this.of(steps));
  }

  /** A task is giving its network back, and so is no longer allowed to do anything. @throws NetworkError program-missing, program-failed */
  async leave({ containerId, steps, reachesMetadata, results }: Attachment): Promise<void> {
    if (reachesMetadata === false || results === null || results.length === 0) return;
    this.#leaving.add(containerId);
    await this.guard(steps);
  }

  left(containerId: string): void {
    this.#leaving.delete(containerId);
  }

  /** All bridges that tasks use. The host takes nothing of IPv6 from them. */
  all(): GuardedBridge[] {
    const used = this.#attachments.all().flatMap(({ steps }) => steps);
    closeIpv6(bridgesIn(used));
    return this.of(used);
  }

  /** The bridges of some steps, each once. */
  of(steps: readonly NetworkStep[]): GuardedBridge[] {
    return [...new Map(bridgesIn(steps).map((one) => [one.bridge, one])).values()].map((one) => this.#guarded(one));
  }

  /** @throws NetworkError: the host takes packets of IPv6 from a bridge */
  check(steps: readonly NetworkStep[]): void {
    const open = bridgesIn(steps).find(({ bridge }) => takesIpv6(bridge));
    if (open !== undefined) throw new NetworkError("program-failed", `the host takes packets of IPv6 from the bridge ${open.bridge}`);
  }

  #guarded({ bridge, network, subnet }: Bridge): GuardedBridge {
    const here = this.#attachments
      .all()
      .flatMap((one) =>
        one.steps.flatMap((step, at) => (bridgesIn([step]).some(({ bridge: name }) => name === bridge) ? [{ ...one, step, at }] : [])),
      );
    const reaching = here
      .filter(({ reachesMetadata, containerId }) => reachesMetadata !== false && !this.#leaving.has(containerId))
      .flatMap(({ results, at }) => (results?.[at]?.ips ?? []).map(({ address }) => address.split("/")[0]!))
      .filter((address) => !address.includes(":"));
    const resolving = here.find(({ resolves }) => resolves)?.step;
    const isInternal =
      here.length > 0 && here.every(({ step }) => step.nat === undefined && step.plugins.every(({ ipMasq }) => ipMasq !== true));
    return { bridge, network, subnet, reaching: reaching.sort(), host: resolving && hostOf(resolving), isInternal };
  }
}

function closeIpv6(bridges: readonly Bridge[]): void {
  for (const { bridge } of bridges) if (takesIpv6(bridge)) writeFileSync(ipv6Switch(bridge), "1");
}

const ipv6Switch = (bridge: string) => `/proc/sys/net/ipv6/conf/${bridge}/disable_ipv6`;

/** The host would also route what a task sends there with an address that it has given to itself: fd00:ec2::254 is a service for metadata. */
function takesIpv6(bridge: string): boolean {
  // Absent: there is no bridge yet, or the kernel has no IPv6.
  return existsSync(ipv6Switch(bridge)) && readFileSync(ipv6Switch(bridge), "utf8").trim() === "0";
}

type Bridge = Pick<GuardedBridge, "bridge" | "network" | "subnet">;

function bridgesIn(steps: readonly NetworkStep[]): Bridge[] {
  return steps.flatMap(({ name: network, plugins }) =>
    plugins.flatMap((plugin) => {
      const { type, bridge } = plugin;
      return type === "bridge" && typeof bridge === "string" ? [{ bridge, network, subnet: asPrinted(bridgedIn(plugin)?.subnet) }] : [];
    }),
  );
}

/** As iptables-save(8) prints it: with the first address of the network. */
function asPrinted(subnet: string | undefined): string | undefined {
  const range = subnet === undefined ? undefined : rangeOf(subnet);
  return range && `${dotted(range.first)}/${subnet!.split("/")[1] ?? 32}`;
}
