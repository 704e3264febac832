/**
 * What a task may send, as rules of ebtables: for hosts whose packet filter is iptables, which sees no packets between two tasks of a bridge. Each interface of a task
 * has a chain, whose name has the key of this engine: ebtables has no comments.
 */
import { existsSync } from "node:fs";
import { output } from "../command.ts";
import { NetworkError } from "../errors.ts";
import type { BridgePort } from "./filter.ts";

export interface EbtablesOptions {
  /** Of this engine, 8 characters. */
  readonly key: string;
  readonly timeoutMs: number;
  /** ebtables does not work, and the rules do without it. Called once. */
  readonly onWarning: (message: string) => void;
}

/** Arguments of one call of ebtables(8) after the table. */
type Call = readonly string[];

/** In the table nat a frame is seen before the bridge learns its address, and before the host takes it. */
const TABLE = ["--concurrent", "-t", "nat"];

/** At most 31 characters. */
export const chainFor = (key: string, port: string): string => `RUNT-${key}-${port}`;

/** The rules of a chain, in order. What is neither IPv4, ARP nor IPv6 is dropped, also a frame with a tag of a VLAN. Pure. */
export function frameRules({ mac, addresses, isRelay }: Omit<BridgePort, "port">): string[] {
  const claims = `-p ARP --arp-htype 1 --arp-ptype 0x800 --arp-mac-src ${mac}`;
  return [
    `-s ! ${mac} -j DROP`,
    ...addresses.map((address) => `-p IPv4 --ip-src ${address} -j RETURN`),
    ...(isRelay ? ["-p IPv4 -j RETURN"] : []),
    ...addresses.map((address) => `${claims} --arp-ip-src ${address} -j RETURN`),
    "-p IPv6 -j RETURN",
    "-j DROP",
  ];
}

interface Seen {
  /** Number of rules by chain, of this engine only. */
  readonly counts: ReadonlyMap<string, number>;
  /** Interfaces whose frames are led to their chain. */
  readonly led: ReadonlySet<string>;
}

/** Reads what `ebtables -L` prints. Pure. */
export function chainsIn(text: string, key: string): Seen {
  const counts = new Map<string, number>();
  const led = new Set<string>();
  for (const line of text.split("\n")) {
    const [, chain, count] = /^Bridge chain: (\S+), entries: (\d+),/.exec(line) ?? [];
    if (chain?.startsWith(chainFor(key, "")) === true) counts.set(chain, Number(count));
    const [, port, target] = /^-i (\S+) -j (\S+)/.exec(line) ?? [];
    if (port !== undefined && target === chainFor(key, port)) led.add(port);
  }
  return { counts, led };
}

export class Ebtables {
  readonly #options: EbtablesOptions;
  /** What is to be there, by task. */
  readonly #wanted = new Map<string, readonly BridgePort[]>();
  /** undefined: it was not called yet. */
  #works: boolean | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: EbtablesOptions) {
    this.#options = options;
  }

  /** From now on the task sends only in its own name. @throws NetworkError program-failed */
  open(task: string, ports: readonly BridgePort[]): Promise<void> {
    return this.#inTurn(async () => {
      if (ports.length === 0) return;
      this.#wanted.set(task, ports);
      const seen = await this.#seen();
      for (const port of ports) await this.#write(port, seen);
    });
  }

  /** @throws NetworkError program-failed */
  close(task: string): Promise<void> {
    return this.#inTurn(async () => {
      const ports = this.#wanted.get(task) ?? [];
      this.#wanted.delete(task);
      if (ports.length > 0) await this.#remove(ports.map(({ port }) => port));
    });
  }

  /** Called once at the start. @throws NetworkError program-failed */
  begin(known: ReadonlyMap<string, readonly BridgePort[]>): Promise<void> {
    return this.#inTurn(async () => {
      for (const [task, ports] of known) this.#wanted.set(task, ports);
      await this.#mend();
      await this.#sweep();
    });
  }

  /** Removes chains of interfaces that are gone. @throws NetworkError program-failed */
  sweep(): Promise<void> {
    return this.#inTurn(() => this.#sweep());
  }

  /** Another driver has taken over. @throws NetworkError program-failed */
  removeAll(): Promise<void> {
    return this.#inTurn(async () => {
      const { counts, led } = await this.#seen();
      await this.#remove([...new Set([...[...counts.keys()].map((chain) => this.#portOf(chain)), ...led])]);
    });
  }

  /** Writes again what is missing. Returns the tasks of which something was missing. @throws NetworkError program-failed */
  look(): Promise<string[]> {
    return this.#inTurn(() => this.#mend());
  }

  async #mend(): Promise<string[]> {
    if (this.#wanted.size === 0) return [];
    const seen = await this.#seen();
    if (!this.#works) return [];
    const damaged = [...this.#wanted].filter(([, ports]) => !ports.every((port) => this.#isWhole(port, seen)));
    for (const [, ports] of damaged) for (const port of ports) await this.#write(port, seen);
    return damaged.map(([task]) => task);
  }

  async #sweep(): Promise<void> {
    const { counts } = await this.#seen();
    const ports = [...counts.keys()].map((chain) => this.#portOf(chain));
    await this.#remove(ports.filter((port) => !existsSync(`/sys/class/net/${port}`)));
  }

  #isWhole(port: BridgePort, { counts, led }: Seen): boolean {
    return led.has(port.port) && counts.get(chainFor(this.#options.key, port.port)) === frameRules(port).length;
  }

  #portOf(chain: string): string {
    return chain.slice(chainFor(this.#options.key, "").length);
  }

  /** Frames are led to the chain when all its rules are there. */
  async #write(one: BridgePort, { counts, led }: Seen): Promise<void> {
    if (!this.#works) return;
    const chain = chainFor(this.#options.key, one.port);
    await this.#call([counts.has(chain) ? "-F" : "-N", chain]);
    for (const rule of frameRules(one)) await this.#call(["-A", chain, ...rule.split(" ")]);
    if (!led.has(one.port)) await this.#call(["-A", "PREROUTING", "-i", one.port, "-j", chain]);
  }

  async #remove(ports: readonly string[]): Promise<void> {
    if (ports.length === 0) return;
    const { counts, led } = await this.#seen();
    for (const port of ports) {
      const chain = chainFor(this.#options.key, port);
      if (led.has(port)) await this.#call(["-D", "PREROUTING", "-i", port, "-j", chain]);
      if (!counts.has(chain)) continue;
      await this.#call(["-F", chain]);
      await this.#call(["-X", chain]);
    }
  }

  /** Nothing where ebtables is not installed, or the kernel does not know it. */
  async #seen(): Promise<Seen> {
    if (this.#works === false) return chainsIn("", "");
    try {
      const text = await this.#call(["-L"]);
      this.#works = true;
      return chainsIn(text, this.#options.key);
    } catch (error) {
      if (this.#works || !(error instanceof NetworkError)) throw error;
      this.#works = false;
      this.#options.onWarning(`a task can send under the address of another one of its network: ${error.message}`);
      return chainsIn("", "");
    }
  }

  #call(call: Call): Promise<string> {
    return output("ebtables", [...TABLE, ...call], this.#options.timeoutMs);
  }

  /** One after the other, so that each sees what the one before has written. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
