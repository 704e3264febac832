/** Networks of this engine. Each is a bridge on the host with a subnet. Name and subnet are stored before the bridge is made. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { readOwnFile } from "../own/index.ts";
import type { BridgeNetwork } from "../plan/index.ts";
import { writeDurably } from "./attachments.ts";
import { output } from "./command.ts";
import { NetworkError } from "./errors.ts";

export interface NetworksOptions {
  readonly directory: string;
  /** A key that no other engine of this host has. */
  readonly key: string;
  readonly timeoutMs: number;
}

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

  /** `name`: "default", or GROUP.NAME. The same name always gives the same network. @throws NetworkError no-subnet, program-missing, program-failed */
  get(name: string): Promise<BridgeNetwork> {
    let found = this.#known.get(name);
    if (found === undefined) {
      found = this.#last.then(() => this.#find(name));
      this.#last = found.catch(() => {});
      this.#known.set(name, found);
      found.catch(() => this.#known.delete(name));
    }
    return found;
  }

  async #find(name: string): Promise<BridgeNetwork> {
    const written = this.written();
    const id = `${this.prefix}-${name}`;
    const known = written.find((one) => one.name === id);
    if (known !== undefined && known.subnet !== "") return known;
    const routes = await output("ip", ["-4", "-o", "route", "show", "table", "all"], this.#options.timeoutMs);
    const subnet = freeSubnet(id, [...routes.split(/\s+/), ...written.map((one) => one.subnet)]);
    if (subnet === undefined)
      throw new NetworkError("no-subnet", "every address from 10.64.0.0 to 10.127.255.255 has a route on this host");
    const network = { name: id, bridge: bridgeOf(id), subnet };
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

function readIn(path: string): BridgeNetwork | undefined {
  try {
    const found = JSON.parse(readOwnFile(path).toString()) as BridgeNetwork;
    return [found.name, found.bridge, found.subnet].every((text) => typeof text === "string") ? found : undefined;
  } catch {
    return undefined;
  }
}

// Chooses the subnet of a network: a range to which the host has no route. It is chosen once and
// stored on disk.

/** Private addresses that are rarely used: 10.64.0.0 to 10.127.255.255, divided into networks of 4094 addresses. */
const FIRST = 10 * 2 ** 24 + 64 * 2 ** 16;
const LENGTH = 20;
const SIZE = 2 ** (32 - LENGTH);
const COUNT = (64 * 2 ** 16) / SIZE;

interface Range {
  readonly first: number;
  readonly last: number;
}

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
    if (!ranges.some((range) => range.first <= last && first <= range.last)) return `${dotted(first)}/${LENGTH}`;
  }
  return undefined;
}

function rangeOf(text: string): Range | undefined {
  const [ip = "", length = "32"] = text.split("/");
  if (!isIPv4(ip) || !(Number(length) <= 32)) return undefined;
  const size = 2 ** (32 - Number(length));
  const value = ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = Math.floor(value / size) * size;
  return { first, last: first + size - 1 };
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
