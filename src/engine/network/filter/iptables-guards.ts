/**
 * Rules of the host for packets that come from a bridge, whatever a task has changed in its own namespace, and for packets that others send to addresses behind it. They
 * are in the table raw, before the kernel routes and before it rewrites addresses: a packet to a published port still has an address of the host there. Each bridge has a
 * chain of its own, and every rule has a comment with the name of the network.
 */
import { RESOLVER_PORT } from "../../plan/index.ts";
import { NetworkError } from "../errors.ts";
import type { GuardedBridge } from "./filter.ts";
import { restoreRaw, savedRules } from "./iptables-saved.ts";

/** Begins the names of the chains, and ends with that of the bridge: at most 28 characters. */
const CHAIN = "RUNT-GUARD-";
const COMMENT = "runt guard: ";
/** Ports that lead to tasks need route_localnet, with which the kernel takes these from a bridge, too. Source: kube-proxy, KUBE-FIREWALL. */
const LOOPBACK = "127.0.0.0/8";
const METADATA = "169.254.169.254";

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

export class IptablesGuards {
  readonly #timeoutMs: number;
  /** What this process has written last, by bridge. */
  readonly #written = new Map<string, { readonly text: string; readonly jumps: readonly string[] }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Writes the rules of bridges, unless they are there. @throws NetworkError program-missing, program-failed */
  write(bridges: readonly GuardedBridge[]): Promise<void> {
    return this.#inTurn(() => this.#write(bridges));
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

  /** Removes those of bridges for which `isLeft`. @param prefix of the names of this engine's networks @throws NetworkError */
  sweep(prefix: string, isLeft: (bridge: string) => boolean): Promise<void> {
    return this.#inTurn(() => this.#sweep(prefix, isLeft));
  }

  /** Writes those of bridges again, whatever is there. @throws NetworkError */
  renew(bridges: () => readonly GuardedBridge[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#written.clear();
      await this.#write(bridges());
    });
  }

  /** The first bridge of which a rule is missing. @param saved lines of iptables-save(8) */
  static incomplete(saved: readonly string[], bridges: readonly GuardedBridge[]): string | undefined {
    const lines = new Set(saved);
    const counts = new Map<string, number>();
    for (const line of saved) {
      const [, bridge] = new RegExp(`^-A ${CHAIN}(\\S+) `).exec(line) ?? [];
      if (bridge !== undefined) counts.set(bridge, (counts.get(bridge) ?? 0) + 1);
    }
    const isWhole = (one: GuardedBridge) =>
      (counts.get(one.bridge) ?? 0) >= guardChain(one).length - 1 && jumpsOf(one).every((jump) => lines.has(`-A ${jump}`));
    return bridges.find((one) => !isWhole(one))?.bridge;
  }

  async #write(all: readonly GuardedBridge[]): Promise<void> {
    // Tasks of one network name the same bridge.
    const each = [...new Map(all.map((one) => [one.bridge, one])).values()];
    const wanted = each.map((one) => ({ ...one, jumps: jumpsOf(one), text: guardChain(one).join("\n") }));
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

  async #sweep(prefix: string, isLeft: (bridge: string) => boolean): Promise<void> {
    const lines = guardRemoval(await this.#saved(), prefix, isLeft);
    if (lines.length > 0) await restoreRaw(lines, this.#timeoutMs);
  }

  #saved(): Promise<string> {
    return savedRules(this.#timeoutMs, "raw");
  }

  /** One after the other, so that each sees what the one before has written. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
