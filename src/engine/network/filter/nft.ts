/** The driver for nftables: one table of this engine, which nobody else has. */
import type { Attachment } from "../attachments.ts";
import { NetworkError } from "../errors.ts";
import { Together } from "../together.ts";
import { type Chain, type Contents, changes, markOf, NOTHING, taskIn, together, writable } from "./contents.ts";
import type { GuardedBridge, KnownToFilter, PacketFilter, ServicePort, TaskHolds } from "./filter.ts";
import { IptablesRules } from "./iptables-rules.ts";
import { applyLines, deleteTables, deletion, type NftOptions, type NftRun, readTables, tableOf } from "./nft-table.ts";
import {
  bridgeContents,
  bridgeIn,
  bridgeOwner,
  IDENTITY,
  outOf,
  ownerOf,
  ownerOfChain,
  SERVICES,
  serviceContents,
  setLines,
  skeleton,
  tableLines,
  tablesOf,
  taskContents,
} from "./table.ts";
import { TableWatch } from "./table-watch.ts";
import { holdsOf, isEmpty, withoutOldPlugins } from "./ways.ts";

export interface NftFilterOptions extends NftOptions {
  /** Of the names of this engine's networks. */
  readonly prefix: string;
  /** Whether the kernel has tables of the family bridge. */
  readonly hasFrames: boolean;
  /** Path of runt-pause. @throws PauseNotFoundError */
  readonly helper: () => string;
  /** Something does not work, and the rules do without it. */
  readonly onWarning: (message: string) => void;
}

export class NftFilter implements PacketFilter {
  readonly kind = "nft";
  readonly #options: NftFilterOptions;
  readonly #table: string;
  readonly #skeleton: Contents;
  /** Rules that another driver, or an earlier version, has made. */
  readonly #old: IptablesRules;
  /** What is to be there, by owner. */
  readonly #wanted = new Map<string, Contents>();
  /** What this process has written last, or has found; undefined: it has not looked yet. */
  #written: Map<string, Contents> | undefined;
  readonly #together: Together;
  readonly #watch: TableWatch;
  readonly #run: NftRun;
  #onChanged: (() => void) | undefined;
  /** Generation of nftables at which the table was seen to be whole. */
  #wholeAt: number | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** A change that failed at first has shown that something was missing. */
  #wasDamaged = false;

  constructor(options: NftFilterOptions) {
    this.#options = options;
    this.#table = tableOf(options.key);
    this.#skeleton = skeleton(options.identity, options.hasFrames);
    this.#old = new IptablesRules(options);
    const table = this.#table.split(" ")[1]!;
    const { helper, onWarning } = options;
    this.#watch = new TableWatch({ helper, table, onChanged: () => this.#onChanged?.(), onFailed: onWarning });
    this.#run = { timeoutMs: options.timeoutMs, onStarted: this.#watch.own };
    this.#together = new Together((owners) => this.#inTurn(() => this.#write(owners)));
  }

  async guard(bridges: readonly GuardedBridge[]): Promise<void> {
    await this.#change(bridges.map((one) => [bridgeOwner(one.bridge), bridgeContents(one)]));
  }

  async unguard(bridge: string): Promise<void> {
    // Ways of tasks that are giving their networks back at the same time lead to a chain of the bridge.
    const without = [...this.#wanted].flatMap(([owner, { elements, chains }]) => {
      const others = elements.filter(({ value }) => value !== outOf(bridge));
      return others.length === elements.length ? [] : [[owner, { elements: others, chains }] as const];
    });
    await this.#change([...without, [bridgeOwner(bridge), undefined]]);
  }

  async open(id: string, holds: TaskHolds): Promise<Pick<Attachment, "nat" | "filter">> {
    if (!isEmpty(holds)) await this.#change([[markOf(id), this.#contentsOf(id, holds)]]);
    return { nat: [], filter: "nft" };
  }

  async close({ containerId }: Attachment): Promise<void> {
    await this.#change([[markOf(containerId), undefined]]);
  }

  async sweep(task: string): Promise<void> {
    await this.#change([[markOf(task), undefined]]);
    await this.#old.sweep(task);
  }

  async serve(ports: readonly ServicePort[]): Promise<void> {
    await this.#change([[SERVICES, ports.length === 0 ? undefined : serviceContents(ports)]]);
    await this.#old.dropServices();
  }

  /** What is missing in the table is written again by `look`. */
  async check({ containerId, steps, results }: Attachment): Promise<void> {
    if (!isEmpty(holdsOf(steps, results ?? [])) && !this.#wanted.has(markOf(containerId)))
      throw new NetworkError("program-failed", `rules of the task are missing in the table ${this.#table}`);
  }

  look(): Promise<string | undefined> {
    return this.#inTurn(async () => {
      if (this.#written === undefined || (this.#written.size === 0 && !this.#wasDamaged)) {
        this.#watch.stop();
        return undefined;
      }
      this.#startWatch();
      // Asked before the table is read: a change meanwhile has a later one.
      const generation = await this.#watch.generation();
      if (generation !== undefined && generation === this.#wholeAt && !this.#wasDamaged) return undefined;
      const present = await this.#read();
      const lines = present === undefined ? [] : changes(this.#table, present, writable(this.#whole(this.#written), present));
      const isDamaged = present === undefined || lines.length > 0;
      if (isDamaged) await this.#mend(present, this.#written);
      this.#wholeAt = isDamaged ? undefined : generation;
      const isTold = isDamaged || this.#wasDamaged;
      this.#wasDamaged = false;
      if (!isTold) return undefined;
      if (present === undefined) return `another program has removed the table ${this.#table}`;
      const changed = tablesOf(this.#table, this.#options.hasFrames).filter((one) => lines.some((line) => line.includes(` ${one} `)));
      return `another program has changed the table ${changed.join(" and the table ") || this.#table}`;
    });
  }

  watch(onChanged: () => void): () => void {
    this.#onChanged = onChanged;
    return () => {
      this.#onChanged = undefined;
      this.#watch.stop();
    };
  }

  /** Only while somebody wants to hear of changes, and until then the table is looked at as a whole. */
  #startWatch(): void {
    if (this.#onChanged !== undefined) this.#watch.start();
  }

  async begin(all: KnownToFilter): Promise<void> {
    const { bridges, isKnown, unleased, write } = all;
    await this.#inTurn(() => this.#ensureRead());
    const old = all.attachments.filter(({ filter }) => filter !== "nft");
    const attachments = all.attachments.map((one) => (one.filter === "nft" ? one : takenOver(one)));
    const known = new Map<string, Contents>();
    for (const { containerId, steps, results } of attachments) {
      const holds = holdsOf(steps, results ?? []);
      if (!isEmpty(holds)) known.set(markOf(containerId), this.#contentsOf(containerId, holds));
    }
    for (const one of bridges) known.set(bridgeOwner(one.bridge), bridgeContents(one));
    const isLeft = (owner: string) => {
      if (owner === SERVICES || known.has(owner)) return false;
      const bridge = bridgeIn(owner);
      const task = taskIn(owner);
      return bridge === undefined ? task === undefined || !isKnown(task) : unleased.includes(bridge);
    };
    const left = [...this.#wanted.keys()].filter(isLeft);
    await this.#change([...known, ...left.map((owner) => [owner, undefined] as const)]);
    // The new rules come before the old ones, so that no connection finds neither.
    await this.#old.remove({ ...all, attachments });
    for (const one of old) write(takenOver(one));
    if (this.#wanted.has(SERVICES) && !partsIn(this.#wanted.get(SERVICES)!).some(isKnown)) await this.#change([[SERVICES, undefined]]);
  }

  /** Resolves when all of it is there, or is gone. @throws NetworkError: nothing of it has changed */
  async #change(asked: readonly (readonly [owner: string, contents: Contents | undefined])[]): Promise<void> {
    if (asked.length === 0) return;
    const before = asked.map(([owner]) => [owner, this.#wanted.get(owner)] as const);
    this.#want(asked);
    try {
      await this.#together.change(asked.map(([owner]) => owner));
    } catch (error) {
      this.#want(before);
      throw error;
    }
  }

  #want(asked: readonly (readonly [owner: string, contents: Contents | undefined])[]): void {
    for (const [owner, contents] of asked) {
      if (contents === undefined) this.#wanted.delete(owner);
      else this.#wanted.set(owner, contents);
    }
  }

  /** In one transaction. */
  async #write(owners: readonly string[]): Promise<void> {
    const before = await this.#ensureRead();
    const after = new Map(before);
    for (const owner of owners) {
      const wanted = this.#wanted.get(owner);
      if (wanted === undefined) after.delete(owner);
      else after.set(owner, wanted);
    }
    const of = (all: ReadonlyMap<string, Contents>) => together([...new Set(owners)].map((owner) => all.get(owner) ?? NOTHING));
    const lines = changes(this.#table, of(before), of(after));
    if (lines.length === 0) {
      // It says the same, but the rules of what was read at the start are known from now on.
      this.#written = after;
      return;
    }
    const isFirst = before.size === 0;
    try {
      if (after.size === 0) await deleteTables(this.#table, this.#options.hasFrames, this.#run);
      else if (isFirst) await this.#mend(await this.#read(), after);
      else await applyLines(lines, this.#run);
    } catch (error) {
      if (isFirst || !(error instanceof NetworkError) || error.code !== "program-failed") throw error;
      // Perhaps another program has removed something.
      await this.#mend(await this.#read(), after);
      this.#wasDamaged = true;
    }
    this.#written = after;
    if (after.size > 0) this.#startWatch();
  }

  /** @param present undefined: there is no table */
  async #mend(present: Contents | undefined, wanted: ReadonlyMap<string, Contents>): Promise<void> {
    const { identity, hasFrames } = this.#options;
    const lines = (from: Contents) => [
      ...tableLines(this.#table, identity, hasFrames),
      ...changes(this.#table, from, writable(this.#whole(wanted), from), setLines(this.#table, hasFrames)),
    ];
    try {
      await applyLines(lines(present ?? NOTHING), this.#run);
    } catch (error) {
      if (present === undefined || !(error instanceof NetworkError) || error.code !== "program-failed") throw error;
      // A set has another type, or a chain another hook: the table is made anew, in one transaction, too.
      await applyLines([...deletion(this.#table, hasFrames), ...lines(NOTHING)], this.#run);
    }
  }

  #whole(owners: ReadonlyMap<string, Contents>): Contents {
    return together([this.#skeleton, ...owners.values()]);
  }

  /** What an earlier process has written stays until somebody asks for something else. */
  async #ensureRead(): Promise<ReadonlyMap<string, Contents>> {
    if (this.#written !== undefined) return this.#written;
    const present = await this.#read();
    let found = present === undefined ? new Map<string, Contents>() : byOwner(present);
    try {
      if (found.size > 0) await this.#mend(present, found);
    } catch (error) {
      if (!(error instanceof NetworkError) || error.code !== "program-failed") throw error;
      // Another version has made it, whose sets are of other types.
      await deleteTables(this.#table, this.#options.hasFrames, this.#run);
      found = new Map();
    }
    for (const [owner, contents] of found) if (!this.#wanted.has(owner)) this.#wanted.set(owner, contents);
    this.#written = found;
    return found;
  }

  /** @throws NetworkError also: the table is somebody else's */
  async #read(): Promise<Contents | undefined> {
    const { hasFrames, timeoutMs, identity } = this.#options;
    const present = await readTables(this.#table, hasFrames, timeoutMs);
    const ids = present?.chains.filter(({ name }) => name === IDENTITY).flatMap(({ rules }) => rules) ?? [];
    const rule = ids.find(({ digest }) => digest !== `state directory ${identity}`);
    if (rule !== undefined)
      throw new NetworkError("program-failed", `the table ${this.#table} is not of this engine, but of the ${rule.digest}`);
    return present && { ...present, chains: present.chains.filter((one) => this.#isOwn(one)) };
  }

  #contentsOf(id: string, { ways, ports }: TaskHolds): Contents {
    return taskContents(id, ways, this.#options.hasFrames ? ports : []);
  }

  /** Chains that somebody else has made in the table stay as they are. */
  #isOwn({ name, family }: Chain): boolean {
    return ownerOfChain(name) !== undefined || this.#skeleton.chains.some((one) => one.name === name && one.family === family);
  }

  /** One after the other, so that each sees what the one before has written. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** What no owner has, as an element without a comment, is nobody's. */
function byOwner({ elements, chains }: Contents): Map<string, Contents> {
  const found = new Map<string, { elements: Contents["elements"][number][]; chains: Contents["chains"][number][] }>();
  const of = (owner: string) => {
    if (!found.has(owner)) found.set(owner, { elements: [], chains: [] });
    return found.get(owner)!;
  };
  for (const one of elements) if (one.mark.startsWith("runt")) of(ownerOf(one)).elements.push(one);
  for (const one of chains) {
    const owner = ownerOfChain(one.name);
    if (owner !== undefined) of(owner).chains.push(one);
  }
  return found;
}

/** As this driver would have made it. */
function takenOver(one: Attachment): Attachment {
  return { ...one, steps: withoutOldPlugins(one.steps), nat: [], filter: "nft" };
}

/** Ids of the tasks to which ports of services lead. */
function partsIn({ elements }: Contents): string[] {
  return elements.flatMap(({ set, mark }) => (set === "parts" ? (taskIn(mark) ?? []) : []));
}
