/**
 * Rules of the host for packets that come from a bridge, whatever a task has changed in its own namespace, and for packets that others send to addresses behind it. They
 * are in the table raw, before the kernel routes and before it rewrites addresses: a packet to a published port still has an address of the host there. Each bridge has a
 * chain of its own, and every rule has a comment with the name of the network. These are rules of IPv4: a bridge has no other addresses, and the host takes nothing of
 * IPv6 from it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type NetworkStep, RESOLVER_PORT } from "../plan/index.ts";
import { dotted, rangeOf } from "../spec/index.ts";
import type { Attachment, Attachments } from "./attachments.ts";
import { output } from "./command.ts";
import { NetworkError } from "./errors.ts";
import { bridgedIn, hostOf } from "./resolver-names.ts";
import { restoreRaw } from "./rules.ts";

/** Begins the names of the chains, and ends with that of the bridge: at most 28 characters. */
const CHAIN = "RUNT-GUARD-";
const COMMENT = "runt guard: ";
/** Ports that lead to tasks need route_localnet, with which the kernel takes these from a bridge, too. Source: kube-proxy, KUBE-FIREWALL. */
const LOOPBACK = "127.0.0.0/8";
const METADATA = "169.254.169.254";

export interface GuardedBridge {
  readonly bridge: string;
  readonly network: string;
  /** For example "10.64.0.0/20"; undefined if the records of the tasks do not name it. */
  readonly subnet?: string | undefined;
  /** Addresses of tasks that may reach the metadata of the host's cloud. */
  readonly reaching: readonly string[];
  /** Address at which the resolver listens for tasks of this bridge alone, and for the host. */
  readonly host?: string | undefined;
}

/** The chain of a bridge, for iptables-restore(8), which empties one that is there. Pure. */
export function guardChain({ bridge, network, reaching, host }: GuardedBridge): string[] {
  const rule = (match: string, verdict: string) => `-A ${CHAIN}${bridge} ${match} ${commentOf(network)} -j ${verdict}`;
  return [
    `:${CHAIN}${bridge} - [0:0]`,
    // The host sends packets to itself by lo.
    rule("-i lo", "RETURN"),
    ...(host === undefined ? [] : ["udp", "tcp"].map((protocol) => rule(`! -i ${bridge} -p ${protocol} --dport ${RESOLVER_PORT}`, "DROP"))),
    // The host's own address in the network has the ports that tasks publish.
    rule(`! -i ${bridge} -m addrtype --dst-type LOCAL`, "RETURN"),
    rule(`! -i ${bridge}`, "DROP"),
    rule(`-s ${LOOPBACK}`, "DROP"),
    rule(`-d ${LOOPBACK}`, "DROP"),
    ...reaching.map((address) => rule(`-s ${address} -d ${METADATA}`, "RETURN")),
    rule(`-d ${METADATA}`, "DROP"),
  ];
}

/** What leads to the chain, without the verb, as iptables-save(8) prints it. Pure. */
function jumpsOf({ bridge, network, subnet }: Pick<GuardedBridge, "bridge" | "network" | "subnet">): string[] {
  const matches = [`-i ${bridge}`, ...(subnet === undefined ? [] : [`-d ${subnet} ! -i ${bridge}`])];
  return matches.map((match) => `PREROUTING ${match} ${commentOf(network)} -j ${CHAIN}${bridge}`);
}

/** What a line of iptables-save(8) leads to the chain of a bridge. */
function jumpIn(line: string, bridge: string): string | undefined {
  return line.startsWith("-A PREROUTING ") && line.endsWith(` -j ${CHAIN}${bridge}`) ? line.slice(3) : undefined;
}

function commentOf(network: string): string {
  return `-m comment --comment "${COMMENT}${network}"`;
}

/** Turns the output of iptables-save(8) into input for iptables-restore(8) that removes chains with their jumps. Pure. @param isLeft of the bridge of a chain */
export function guardRemoval(saved: string, prefix: string, isLeft: (bridge: string) => boolean): string[] {
  const lines = saved.split("\n");
  const own = lines.filter((line) => line.startsWith("-A ") && line.includes(`--comment "${COMMENT}${prefix}`));
  const bridges = new Set(own.flatMap((line) => new RegExp(` ${CHAIN}(\\S+)`).exec(line)?.[1] ?? []));
  return [...bridges].filter(isLeft).flatMap((bridge) => {
    const jumps = own.filter((line) => line.startsWith("-A PREROUTING ") && line.endsWith(` -j ${CHAIN}${bridge}`));
    return [...jumps.map((line) => `-D ${line.slice(3)}`), `-F ${CHAIN}${bridge}`, `-X ${CHAIN}${bridge}`];
  });
}

export class BridgeGuards {
  readonly #attachments: Attachments;
  readonly #timeoutMs: number;
  /** What this process has written last, by bridge. */
  readonly #written = new Map<string, { readonly text: string; readonly jumps: readonly string[] }>();
  /** Tasks whose networks are being given back: their addresses may be another task's soon. */
  readonly #leaving = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(attachments: Attachments, timeoutMs: number) {
    this.#attachments = attachments;
    this.#timeoutMs = timeoutMs;
  }

  /** Writes the rules of the bridges of a task, unless they are there. @throws NetworkError program-missing, program-failed */
  guard(steps: readonly NetworkStep[]): Promise<void> {
    return this.#inTurn(() => this.#write(bridgesIn(steps)));
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

  /** The bridge is gone. @throws NetworkError program-failed */
  forget(bridge: string): Promise<void> {
    return this.#inTurn(async () => {
      const known = this.#written.get(bridge);
      // An earlier process may have written it for a task whose record was lost since.
      if (known === undefined) return this.#sweep("", (one) => one === bridge);
      this.#written.delete(bridge);
      await restoreRaw([...known.jumps.map((jump) => `-D ${jump}`), `-F ${CHAIN}${bridge}`, `-X ${CHAIN}${bridge}`], this.#timeoutMs).catch(
        async (error) => {
          // Somebody may have removed some of it.
          if (!(error instanceof NetworkError) || error.code !== "program-failed") throw error;
          await this.#sweep("", (one) => one === bridge);
        },
      );
    });
  }

  /**
   * Removes those of bridges that no task uses, and writes those that are used.
   * @param prefix of the names of this engine's networks
   * @param unleased bridges by which no task has an address: those of tasks whose records are lost stay guarded. @throws NetworkError
   */
  tidy(prefix: string, unleased: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const used = this.#attachments.all().flatMap(({ steps }) => bridgesIn(steps));
      const names = new Set(used.map(({ bridge }) => bridge));
      await this.#sweep(`${prefix}-`, (bridge) => !names.has(bridge) && unleased.includes(bridge));
      this.#written.clear();
      await this.#write(used);
    });
  }

  /** @throws NetworkError: a rule is missing */
  async check(steps: readonly NetworkStep[]): Promise<void> {
    const all = bridgesIn(steps);
    if (all.length === 0) return;
    const open = all.find(({ bridge }) => takesIpv6(bridge));
    if (open !== undefined) throw new NetworkError("program-failed", `the host takes packets of IPv6 from the bridge ${open.bridge}`);
    const saved = (await this.#saved()).split("\n");
    for (const one of all.map((bridge) => this.#guarded(bridge))) {
      const expected = guardChain(one).length - 1;
      const present = saved.filter((line) => line.startsWith(`-A ${CHAIN}${one.bridge} `)).length;
      if (present < expected || !jumpsOf(one).every((jump) => saved.includes(`-A ${jump}`)))
        throw new NetworkError("program-failed", `rules are missing in the chain ${CHAIN}${one.bridge} of the table raw`);
    }
  }

  async #write(all: readonly Bridge[]): Promise<void> {
    for (const { bridge } of all) if (takesIpv6(bridge)) writeFileSync(ipv6Switch(bridge), "1");
    // Tasks of one network name the same bridge.
    const each = [...new Map(all.map((one) => [one.bridge, one])).values()];
    const wanted = each.map((one) => this.#guarded(one)).map((one) => ({ ...one, jumps: jumpsOf(one), text: guardChain(one).join("\n") }));
    const changed = wanted.filter(({ bridge, text }) => this.#written.get(bridge)?.text !== text);
    if (changed.length === 0) return;
    const isKnown = changed.every(({ bridge }) => this.#written.has(bridge));
    const saved = isKnown ? [] : (await this.#saved()).split("\n");
    const jumps = changed.flatMap(({ bridge, jumps: all }) => {
      const there = this.#written.get(bridge)?.jumps ?? saved.flatMap((line) => jumpIn(line, bridge) ?? []);
      const missing = all.filter((jump) => !there.includes(jump)).map((jump) => `-I ${jump}`);
      return [...missing, ...there.filter((jump) => !all.includes(jump)).map((jump) => `-D ${jump}`)];
    });
    await restoreRaw([...changed.flatMap(({ text }) => text.split("\n")), ...jumps], this.#timeoutMs);
    for (const { bridge, text, jumps: all } of changed) this.#written.set(bridge, { text, jumps: all });
  }

  #guarded({ bridge, network, subnet }: Bridge): GuardedBridge {
    const reaching = this.#attachments.all().flatMap(({ containerId, steps, results, reachesMetadata }) => {
      if (reachesMetadata === false || this.#leaving.has(containerId)) return [];
      const own = steps.flatMap((step, at) => (bridgesIn([step]).some((one) => one.bridge === bridge) ? (results?.[at]?.ips ?? []) : []));
      return own.map(({ address }) => address.split("/")[0]!).filter((address) => !address.includes(":"));
    });
    const steps = this.#attachments.all().flatMap(({ steps: all, resolves }) => (resolves ? all : []));
    const step = steps.find((one) => bridgesIn([one]).some(({ bridge: name }) => name === bridge));
    return { bridge, network, subnet, reaching: reaching.sort(), host: step && hostOf(step) };
  }

  async #sweep(prefix: string, isLeft: (bridge: string) => boolean): Promise<void> {
    const lines = guardRemoval(await this.#saved(), prefix, isLeft);
    if (lines.length > 0) await restoreRaw(lines, this.#timeoutMs);
  }

  #saved(): Promise<string> {
    return output("iptables-save", ["-t", "raw"], this.#timeoutMs);
  }

  /** One after the other, so that each sees what the one before has written. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
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
