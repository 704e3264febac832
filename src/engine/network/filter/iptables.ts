/** The driver for iptables: rules and chains in the tables that all programs of the host share, found by their comments. */
import type { Attachment } from "../attachments.ts";
import { NetworkError } from "../errors.ts";
import { Together } from "../together.ts";
import type { GuardedBridge, KnownToFilter, PacketFilter, ServicePort, TaskHolds } from "./filter.ts";
import { IptablesGuards } from "./iptables-guards.ts";
import { countRules, incompleteChain, natRemoval, natRules } from "./iptables-nat.ts";
import { removalOf, restoreNat, savedRules, sweepRules } from "./iptables-saved.ts";
import { IptablesServices } from "./iptables-services.ts";
import { deleteTables, type NftOptions, readTables, tableOf } from "./nft-table.ts";
import { ownerOf, SERVICES } from "./table.ts";
import { waysOf } from "./ways.ts";

export interface IptablesOptions extends NftOptions {
  /** Of the names of this engine's networks. */
  readonly prefix: string;
}

export class IptablesFilter implements PacketFilter {
  readonly kind = "iptables";
  readonly #options: IptablesOptions;
  readonly #nat: Together;
  readonly #guards: IptablesGuards;
  readonly #services: IptablesServices;
  /** Tasks and bridges whose rules are removed: the records may still have them. */
  readonly #gone = new Set<string>();
  /** The table of the other driver still leads to the ports of services. */
  #hasOldTable = false;

  constructor(options: IptablesOptions) {
    const { key, timeoutMs } = options;
    this.#options = options;
    this.#nat = new Together((lines) => restoreNat(lines, timeoutMs));
    this.#guards = new IptablesGuards(timeoutMs);
    this.#services = new IptablesServices({ key, timeoutMs });
  }

  async guard(bridges: readonly GuardedBridge[]): Promise<void> {
    for (const { bridge } of bridges) this.#gone.delete(bridge);
    await this.#guards.write(bridges);
  }

  async unguard(bridge: string): Promise<void> {
    this.#gone.add(bridge);
    await this.#guards.forget(bridge);
  }

  /** iptables sees no packets between two tasks of a bridge, so that a task can send in the name of others. */
  async open(id: string, { ways }: TaskHolds): Promise<Pick<Attachment, "nat" | "filter">> {
    const nat = ways.flatMap((one) => natRules(one, id));
    this.#gone.delete(id);
    if (nat.length > 0) await this.#nat.change(nat);
    return { nat };
  }

  async close({ containerId, steps, results, nat = [] }: Attachment): Promise<void> {
    this.#gone.add(containerId);
    // Rules that were made by a plugin, the plugin removes.
    if (steps.every((step) => step.nat === undefined) || (results !== null && nat.length === 0)) return;
    try {
      if (results !== null) return await this.#nat.change(natRemoval(nat));
    } catch (error) {
      if (!isFailure(error)) throw error;
      // Somebody has removed some of them.
    }
    await sweepRules(({ network, id }) => id === containerId && steps.some(({ name }) => name === network), this.#options.timeoutMs);
  }

  async sweep(task: string): Promise<void> {
    await this.#sweep((id) => id === task);
  }

  async serve(ports: readonly ServicePort[]): Promise<void> {
    await this.#services.set(ports);
    await this.#dropOldTable();
  }

  async check({ nat = [] }: Attachment, bridges: readonly GuardedBridge[]): Promise<void> {
    if (nat.length === 0 && bridges.length === 0) return;
    const saved = (await this.#saved()).split("\n");
    const chain = incompleteChain(countRules(saved), nat);
    if (chain !== undefined)
      throw new NetworkError("program-failed", `rules of the task are missing in the chain ${chain} of the table nat`);
    const bridge = IptablesGuards.incomplete(saved, bridges);
    if (bridge !== undefined) throw new NetworkError("program-failed", `rules are missing for the bridge ${bridge} in the table raw`);
  }

  async look(known: () => Pick<KnownToFilter, "attachments" | "bridges">): Promise<string | undefined> {
    const before = known();
    if (before.attachments.length === 0 && !this.#services.hasPorts) return undefined;
    const saved = await this.#saved();
    // What was added since is not in what was read.
    const [ids, names] = [new Set(before.attachments.map((one) => one.containerId)), new Set(before.bridges.map((one) => one.bridge))];
    const tasks = await this.#mendTasks(saved, () => ({
      attachments: known().attachments.filter(({ containerId }) => ids.has(containerId)),
    }));
    const bridges = () => known().bridges.filter(({ bridge }) => !this.#gone.has(bridge));
    const bridge = IptablesGuards.incomplete(
      saved.split("\n"),
      bridges().filter((one) => names.has(one.bridge)),
    );
    if (bridge !== undefined) await this.#guards.renew(bridges);
    const hasServices = await this.#services.look(saved);
    const all = [...tasks, ...(bridge === undefined ? [] : [`the bridge ${bridge}`]), ...(hasServices ? ["ports of services"] : [])];
    return all.length === 0 ? undefined : `another program has removed or changed rules of iptables for ${all.join(", ")}`;
  }

  /** Such rules have no table of their own, of which the kernel could tell. */
  watch(): () => void {
    return () => {};
  }

  async begin({ attachments, bridges, isKnown, unleased, write }: KnownToFilter): Promise<void> {
    const { prefix } = this.#options;
    for (const { filter, ...one } of attachments) if (filter === "nft") await this.#takeOver(one, write);
    await this.#sweep((id) => !isKnown(id));
    await this.#services.tidy(isKnown);
    const used = new Set(bridges.map(({ bridge }) => bridge));
    await this.#guards.sweep(`${prefix}-`, (bridge) => !used.has(bridge) && unleased.includes(bridge));
    await this.#guards.renew(() => bridges);
    // What was taken over just now is whole.
    await this.#mendTasks(await this.#saved(), () => ({ attachments: attachments.filter(({ filter }) => filter === undefined) }));
    const old = await this.#oldTable();
    this.#hasOldTable = old !== undefined;
    if (!old?.elements.some((one) => ownerOf(one) === SERVICES)) await this.#dropOldTable();
  }

  /** Rules of a task that are in the table of the other driver. */
  async #takeOver(one: Attachment, write: (attachment: Attachment) => void): Promise<void> {
    const { containerId, steps, results } = one;
    const nat = waysOf(steps, results ?? []).flatMap((way) => natRules(way, containerId));
    // An attempt before this one may have been killed after it.
    const removal = removalOf(await this.#saved(), ({ id }) => id === containerId);
    if (nat.length > 0) await restoreNat([...removal, ...nat], this.#options.timeoutMs);
    write({ ...one, nat });
  }

  /** undefined: there is none, or nobody can say. */
  async #oldTable() {
    const { key, timeoutMs } = this.#options;
    return readTables(tableOf(key), false, timeoutMs).catch((error) => {
      if (isFailure(error) || error.code === "program-missing") return undefined;
      throw error;
    });
  }

  async #dropOldTable(): Promise<void> {
    if (!this.#hasOldTable) return;
    this.#hasOldTable = false;
    const { key, timeoutMs } = this.#options;
    await deleteTables(tableOf(key), true, { timeoutMs }).catch((error) => {
      // The kernel has no tables of the family bridge.
      if (!isFailure(error)) throw error;
      return deleteTables(tableOf(key), false, { timeoutMs });
    });
  }

  /** Returns the tasks whose rules had to be written again. @param saved of iptables-save(8) */
  async #mendTasks(saved: string, known: () => Pick<KnownToFilter, "attachments">): Promise<string[]> {
    const present = countRules(saved.split("\n"));
    const damaged = known().attachments.filter(({ containerId, nat = [] }) => {
      return !this.#gone.has(containerId) && incompleteChain(present, nat) !== undefined;
    });
    if (damaged.length === 0) return [];
    const ids = new Set(damaged.map(({ containerId }) => containerId));
    await this.#nat.change([...removalOf(saved, ({ id }) => ids.has(id)), ...damaged.flatMap(({ nat = [] }) => nat)]);
    return [...ids];
  }

  async #sweep(isLeft: (id: string) => boolean): Promise<void> {
    const { prefix, timeoutMs } = this.#options;
    await sweepRules(({ network, id }) => network.startsWith(`${prefix}-`) && isLeft(id), timeoutMs);
  }

  #saved(): Promise<string> {
    return savedRules(this.#options.timeoutMs);
  }
}

function isFailure(error: unknown): boolean {
  return error instanceof NetworkError && error.code === "program-failed";
}
