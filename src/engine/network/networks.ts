/** Networks of this engine. Each is a bridge on the host with a subnet. Name and subnet are stored before the bridge is made. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readOwnFile, unlessShortage } from "../own/index.ts";
import { type BridgeNetwork, hostIn } from "../plan/index.ts";
import { dotted, type NetworkSpec, numberOf, overlaps, rangeOf } from "../spec/index.ts";
import { writeDurably } from "./attachments.ts";
import { output } from "./command.ts";
import { NetworkError } from "./errors.ts";

export interface NetworksOptions {
  readonly directory: string;
  /** A key that no other engine of this host has. */
  readonly key: string;
  readonly timeoutMs: number;
}

const DEFAULT_NETWORK = "default";

export type Said = Pick<NetworkSpec, "name" | "shared" | "subnet" | "gateway" | "address" | "link">;

/** Names of groups and networks contain no dot. A network of the whole host has no group. */
export function networkName(group: string, { name, shared }: Said): string {
  return name === undefined ? DEFAULT_NETWORK : `${shared ? "" : group}.${name}`;
}

/** What a task says of a network. */
type Asked = Pick<NetworkSpec, "subnet" | "gateway" | "address" | "link">;

const SUFFIX = ".json";

export class Networks {
  readonly #options: NetworksOptions;
  readonly #known = new Map<string, Promise<BridgeNetwork>>();
  /** Serialises the choice of subnets, so that each sees the ones before it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: NetworksOptions) {
    this.#options = options;
  }

  /** Prefix of the names of all networks. */
  get prefix(): string {
    return `runtd-${this.#options.key}`;
  }

  /**
   * `name`: "default", or GROUP.NAME. The same name always gives the same network, until a task asks for another subnet, and none is in it.
   * An address that the task asks for has to be in it. @param isUsed whether a task has an interface of the bridge @throws NetworkError no-subnet, program-missing, program-failed
   */
  async get(name: string, asked: Asked, isUsed: (bridge: string) => boolean): Promise<BridgeNetwork> {
    const network = await this.#get(name, asked, isUsed);
    const { address } = asked;
    if (address === undefined) return network;
    const { first, last } = rangeOf(network.subnet)!;
    const number = numberOf(address);
    if (number <= first || number >= last || address === hostIn(network))
      throw new NetworkError("no-subnet", `the network ${name} has ${network.subnet}, in which ${address} is no address of a task`);
    return network;
  }

  #get(name: string, asked: Asked, isUsed: (bridge: string) => boolean): Promise<BridgeNetwork> {
    let found = this.#known.get(name);
    if (found === undefined || asked.subnet !== undefined) {
      found = this.#last.then(() => this.#find(name, asked, isUsed));
      this.#last = found.catch(() => {});
      this.#known.set(name, found);
      found.catch(() => this.#known.delete(name));
    }
    return found;
  }

  async #find(name: string, { subnet, gateway, link }: Asked, isUsed: (bridge: string) => boolean): Promise<BridgeNetwork> {
    const written = this.written();
    const id = `${this.prefix}-${name}`;
    const known = written.find((one) => one.name === id);
    const isKnown = known !== undefined && known.subnet !== "";
    if (isKnown && (subnet === undefined || (known.subnet === subnet && known.gateway === gateway))) return known;
    const bridge = bridgeOf(id);
    if (isKnown && isUsed(bridge))
      throw new NetworkError(
        "no-subnet",
        `the network ${name} has ${shown(known)}, and tasks are in it: to give it ${shown({ subnet: subnet!, gateway })}, delete them first`,
      );
    // A bridge that is left of the network is not in its way: it goes before this one is made.
    const others = written.filter((one) => one.name !== id);
    const routes = await output("ip", ["-4", "-o", "route", "show", "table", "all"], this.#options.timeoutMs);
    const lines = routes.split("\n").filter((line) => !line.includes(` dev ${bridge} `));
    const taken = [...lines.join(" ").split(/\s+/), ...others.map((one) => one.subnet)];
    const chosen = subnet ?? freeSubnet(id, taken);
    if (chosen === undefined)
      throw new NetworkError("no-subnet", "every address from 10.64.0.0 to 10.127.255.255 has a route on this host");
    // The network of an interface is one to which the host has a way.
    const other = subnet === undefined || link !== undefined ? undefined : takenBy(subnet, taken);
    if (other !== undefined) throw new NetworkError("no-subnet", `${subnet} cannot be a network here: this host has a way to ${other}`);
    const network = { name: id, bridge, subnet: chosen, ...(gateway === undefined ? {} : { gateway }) };
    writeDurably(join(this.#options.directory, `${name}${SUFFIX}`), JSON.stringify(network));
    return network;
  }

  /** All networks that were ever made. `subnet` "": its file is damaged, and it is chosen anew when a task needs it. */
  written(): BridgeNetwork[] {
    const { directory } = this.#options;
    if (!existsSync(directory)) return [];
    const files = readdirSync(directory).filter((name) => name.endsWith(SUFFIX));
    return files.map((file) => {
      const name = `${this.prefix}-${file.slice(0, -SUFFIX.length)}`;
      return readIn(join(directory, file)) ?? { name, bridge: bridgeOf(name), subnet: "" };
    });
  }
}

/** Names of interfaces have at most 15 characters (IFNAMSIZ). */
function bridgeOf(network: string): string {
  return `rt-${createHash("sha256").update(network).digest("hex").slice(0, 10)}`;
}

function shown({ subnet, gateway }: Pick<BridgeNetwork, "subnet" | "gateway">): string {
  return gateway === undefined ? subnet : `${subnet} with ${gateway}`;
}

/** Address or network among `taken` that a subnet overlaps. The way to everywhere is none. */
function takenBy(subnet: string, taken: readonly string[]): string | undefined {
  const own = rangeOf(subnet)!;
  return taken.find((one) => {
    const range = one === "0.0.0.0/0" ? undefined : rangeOf(one);
    return range !== undefined && overlaps(range, own);
  });
}

function readIn(path: string): BridgeNetwork | undefined {
  try {
    const found = JSON.parse(readOwnFile(path).toString()) as BridgeNetwork;
    return [found.name, found.bridge, found.subnet].every((text) => typeof text === "string") ? found : undefined;
  } catch (error) {
    return unlessShortage(error);
  }
}

// Chooses the subnet of a network: a range to which the host has no route. It is chosen once and
// stored on disk.

/** Private addresses that are rarely used: 10.64.0.0 to 10.127.255.255, divided into networks of 4094 addresses. */
const FIRST = 10 * 2 ** 24 + 64 * 2 ** 16;
const LENGTH = 20;
const SIZE = 2 ** (32 - LENGTH);
const COUNT = (64 * 2 ** 16) / SIZE;

/**
 * The search starts at a position that depends on the name, so that two engines rarely choose the same subnet. undefined: no subnet is free.
 * @param taken such as "10.0.0.0/8" or "192.168.1.1"; other texts, such as "default", are ignored
 */
export function freeSubnet(name: string, taken: readonly string[]): string | undefined {
  const ranges = taken.flatMap((one) => rangeOf(one) ?? []);
  const start = createHash("sha256").update(name).digest().readUInt32BE() % COUNT;
  for (let at = 0; at < COUNT; at++) {
    const first = FIRST + ((start + at) % COUNT) * SIZE;
    const last = first + SIZE - 1;
    if (!ranges.some((range) => overlaps(range, { first, last }))) return `${dotted(first)}/${LENGTH}`;
  }
  return undefined;
}
