/** Removes network resources on the host that belong to no known task, as after a crash, with a damaged record, or with a restored state directory. */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";
import { readOwnFile } from "../own/index.ts";
import { type Bridges, isBridge } from "./bridges.ts";
import { output } from "./command.ts";
import type { PacketFilter } from "./filter/filter.ts";
import { pinnedBelow, unpinNamespace } from "./namespace.ts";
import type { Networks } from "./networks.ts";
import type { Together } from "./together.ts";

export interface TidyOptions {
  /** Directory of the files to which namespaces are bound. */
  readonly namespaces: string;
  readonly leases: string;
  /** Prefix in the names of this engine's networks. */
  readonly prefix: string;
  /** Calls unmountNamespaces. */
  readonly unmounting: Together;
  readonly timeoutMs: number;
}

/** Name of the file of a lease. */
const ADDRESS = /^[0-9a-f.:]+$/;

/** Removes namespace files, whether or not a namespace is bound to them. @throws NetworkError, the errors of the system calls */
export async function tidyNamespaces({ namespaces, unmounting }: TidyOptions, isKnown: (id: string) => boolean): Promise<void> {
  const files = existsSync(namespaces) ? readdirSync(namespaces).map((name) => join(namespaces, name)) : [];
  const all = new Set([...files, ...pinnedBelow(namespaces)]);
  for (const path of all) if (!isKnown(basename(path))) await unpinNamespace(path, unmounting);
}

/** host-local keeps a file for each address. Its first line is the id of the container. @throws the errors of the system calls */
export function tidyLeases({ leases, prefix }: TidyOptions, isKnown: (id: string) => boolean): void {
  const networks = existsSync(leases)
    ? readdirSync(leases).filter((name) => name.startsWith(prefix) && isDirectory(join(leases, name)))
    : [];
  for (const directory of networks.map((name) => join(leases, name))) {
    for (const address of readdirSync(directory).filter((name) => ADDRESS.test(name))) {
      const id = leaseOf(join(directory, address));
      if (id === undefined || !isKnown(id)) removeOwnFile(join(directory, address));
    }
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path).isDirectory();
}

/** undefined: it is no file of host-local's. */
function leaseOf(path: string): string | undefined {
  try {
    return readOwnFile(path).toString().split(/\r?\n/)[0];
  } catch (error) {
    if ((error as { readonly code?: string }).code === "state-unreadable") return undefined;
    throw error;
  }
}

/** Whether a task has an address of this network, whatever else is known of it. @throws the errors of the system calls */
function isLeased(leases: string, network: string): boolean {
  const directory = join(leases, network);
  return existsSync(directory) && readdirSync(directory).some((name) => ADDRESS.test(name));
}

/** Removes bridges that no task uses, and the interfaces that a plugin has attached to them. What others have attached stays, and so does what is no bridge. @throws NetworkError program-missing, program-failed */
export async function tidyBridges(unused: readonly string[], timeoutMs: number): Promise<void> {
  for (const bridge of unused) {
    if (!(await isBridge(bridge, timeoutMs))) continue;
    const links = await output("ip", ["-o", "link", "show", "master", bridge, "type", "veth"], timeoutMs);
    for (const [, name] of links.matchAll(/^\d+: (veth[0-9a-f]{8})@/gm)) await output("ip", ["link", "delete", name!], timeoutMs);
    await output("ip", ["link", "delete", bridge], timeoutMs);
  }
}

/** Networks of tasks whose records are gone or damaged: what the host has of them is found by the id of the task, in leases and rules. */
interface LostOptions {
  readonly tidying: TidyOptions;
  readonly networks: Networks;
  readonly bridges: Bridges;
  readonly filter: Pick<PacketFilter, "sweep">;
}

export class Lost {
  readonly #options: LostOptions;

  constructor(options: LostOptions) {
    this.#options = options;
  }

  /** @throws NetworkError: something is left; the call may be repeated */
  async sweep(id: string): Promise<void> {
    const { tidying, networks, bridges, filter } = this.#options;
    // Without a bridge there are no rules, so that no packet filter need be installed.
    if (networks.written().length === 0) return;
    tidyLeases(tidying, (one) => one !== id);
    await filter.sweep(id);
    const plugins = this.unleased().map((bridge) => ({ type: "bridge", bridge }));
    try {
      await bridges.leave({ containerId: id, steps: [{ name: "", interface: "", needsAddress: false, plugins }] });
    } finally {
      bridges.left(id);
    }
  }

  /** Bridges of networks of which no task has an address: a task whose record is lost still has its own, and may be running. */
  unleased(): string[] {
    const { tidying, networks } = this.#options;
    return networks.written().flatMap(({ name, bridge }) => (isLeased(tidying.leases, name) ? [] : [bridge]));
  }
}
