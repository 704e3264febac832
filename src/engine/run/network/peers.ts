/** The other tasks that the hosts file of a task in named networks names, and when such a file has to be written again. */
import type { NetworkRecord, TaskRecord } from "../../model/index.ts";
import { withoutPrefix } from "../../network/index.ts";
import type { Named } from "../../plan/index.ts";
import type { EngineLog } from "../log.ts";
import { type Service, serviceNames } from "./services.ts";
import { grouped, Unchanged } from "./unchanged.ts";

type Asking = Pick<TaskRecord, "group" | "spec">;
type Other = Pick<TaskRecord, "group" | "name" | "spec" | "network">;

/** A task in one of its networks. */
export interface Member<T extends Other = Other> {
  /** The same for tasks that are in the same network. */
  readonly network: string;
  readonly task: T;
  readonly address: string;
  readonly names: readonly string[];
  /** Index of the network in the list of the task. */
  readonly at: number;
}

interface NamedNetwork {
  readonly id: string;
  readonly aliases?: readonly string[] | undefined;
}

function networksOf({ group, spec: { network } }: Asking): readonly NamedNetwork[] {
  if (network?.name === undefined) return [];
  return [network, ...(network.further ?? [])].map(({ name, shared, aliases }) => ({ id: `${shared ? "" : group}.${name}`, aliases }));
}

/** Ids of the networks of a task, the first one first, each once. */
export function networkIdsOf(record: Asking): readonly string[] {
  return [...new Set(networksOf(record).map(({ id }) => id))];
}

/** In those networks in which the task has an address. */
export function membershipsOf<T extends Other>(task: T): Member<T>[] {
  return networksOf(task).flatMap(({ id: network, aliases = [] }, at) => {
    // Each network gives one address. Addresses are in the order of the networks (plan/network.ts).
    const address = task.network?.addresses[at];
    if (address === undefined) return [];
    return [{ network, task, address: withoutPrefix(address), names: [...new Set([task.name, ...aliases])], at }];
  });
}

/** How one task finds a member of a network: with the names that the task itself gives it. Docker Compose names a container after its project, its service and its number. */
export function foundAs({ address, names, task: { group, name } }: Member, { spec: { network } }: Pick<TaskRecord, "spec">): Named {
  const { links = [] } = network ?? {};
  if (links.length === 0) return { address, names };
  const called = new Set([...names, ...["-", "_"].flatMap((sign) => [`${group}${sign}${name}${sign}1`, `${group}${sign}${name}`])]);
  const given = links.flatMap((link) => (called.has(link.name) ? [link.alias] : []));
  return { address, names: [...new Set([...names, ...given])] };
}

/** What the hosts file of a task depends on. The lists are compared as objects: they stay the same while their content does. */
interface Needed {
  /** A task with another network record has a new file. */
  readonly network: NetworkRecord;
  readonly links: string;
  /** Of each network of the task; undefined: nobody has an address there. */
  readonly members: readonly (readonly OrderedMember[] | undefined)[];
  readonly served: readonly Named[] | undefined;
}

/** `order`: index of the task among all. */
type OrderedMember = Member<TaskRecord> & { readonly order: number };

export interface PeersOptions {
  /** @throws the errors of the system calls */
  readonly write: (record: TaskRecord, peers: readonly Named[]) => void;
  /** What names of services lead to in a task; undefined: that is not known yet, and its file is written later. */
  readonly leadTo: (record: TaskRecord) => "addresses" | "parts" | undefined;
  readonly log: EngineLog;
}

/** Lines that are written before other work of this process gets its turn. A file counts as some lines, however few it has. */
const LINES_AT_ONCE = 5_000;
const LINES_OF_FILE = 50;

/**
 * Keeps the hosts files up to date. A file is written again only if the members or services of one of its networks have changed. On a host with very many
 * tasks the files are written one part after the other, each with what is known then.
 */
export class Peers {
  readonly #options: PeersOptions;
  readonly #members = new Unchanged<readonly OrderedMember[]>();
  /** By the id of the network, and "addresses" or "parts". */
  readonly #served = new Unchanged<readonly Named[]>();
  #records: ReadonlyMap<string, TaskRecord> = new Map();
  /** By task id. Absent: it was not written, or could not be. */
  readonly #needed = new Map<string, Needed>();
  /** Ids of tasks whose files have to be written. */
  readonly #waiting = new Set<string>();
  #isGoingOn = false;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** @param records of tasks in named networks that have their addresses, the oldest first */
  refresh(records: readonly TaskRecord[], services: readonly Service[]): void {
    this.#records = new Map(records.map((one) => [one.id, one]));
    for (const id of this.#needed.keys()) if (!this.#records.has(id)) this.#needed.delete(id);
    const all = records.flatMap((record, order) => membershipsOf(record).map((one): OrderedMember => ({ ...one, order })));
    this.#members.renew(
      grouped(all, ({ network }) => network),
      (members) => JSON.stringify(members.map(({ task: { id }, address, names }) => [id, address, names])),
    );
    const served = [...grouped(services, ({ network }) => network)].flatMap(([network, here]) =>
      (["addresses", "parts"] as const).map((to) => [`${network} ${to}`, serviceNames(here, to === "addresses")] as const),
    );
    this.#served.renew(new Map(served));
    for (const record of records) this.#ask(record);
    this.#write();
  }

  /** Called when it has become known what names of services lead to in a task. */
  ask(id: string): void {
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#ask(record);
    this.#write();
  }

  #ask(record: TaskRecord): void {
    const leadTo = this.#options.leadTo(record);
    if (leadTo === undefined) {
      if (this.#waiting.delete(record.id)) this.#needed.delete(record.id);
      return;
    }
    const ids = networkIdsOf(record);
    const needed: Needed = {
      network: record.network!,
      links: JSON.stringify(record.spec.network?.links ?? []),
      members: ids.map((id) => this.#members.get(id)),
      served: this.#served.get(`${ids[0]} ${leadTo}`),
    };
    const before = this.#needed.get(record.id);
    if (before !== undefined && isSame(before, needed)) return;
    this.#needed.set(record.id, needed);
    this.#waiting.add(record.id);
  }

  #write(): void {
    let lines = 0;
    for (const id of this.#waiting) {
      if (lines >= LINES_AT_ONCE) {
        this.#goOn();
        return;
      }
      this.#waiting.delete(id);
      const [record, needed] = [this.#records.get(id), this.#needed.get(id)];
      if (record === undefined || needed === undefined) continue;
      const peers = peersOf(record, needed);
      lines += peers.length + LINES_OF_FILE;
      try {
        this.#options.write(record, peers);
      } catch (error) {
        // It is tried again after the next transaction.
        this.#needed.delete(id);
        this.#options.log("error", "names-not-written", { task: id, message: String(error) });
      }
    }
  }

  #goOn(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    setImmediate(() => {
      this.#isGoingOn = false;
      this.#write();
    });
  }
}

function isSame(a: Needed, b: Needed): boolean {
  const isOfSame = a.network === b.network && a.links === b.links && a.served === b.served && a.members.length === b.members.length;
  return isOfSame && a.members.every((members, at) => members === b.members[at]);
}

/** Services, then tasks. If two tasks have the same name, the newer one comes first, because resolvers take the first match. */
function peersOf(record: TaskRecord, { members, served = [] }: Needed): readonly Named[] {
  const others = members.flatMap((some) => some ?? []).filter(({ task }) => task.id !== record.id);
  others.sort((a, b) => b.order - a.order || a.at - b.at);
  // The name of a service is not that of a task, too.
  const taken = new Set(served.flatMap(({ names }) => names));
  const tasks = others
    .map((one) => foundAs(one, record))
    .map(({ address, names }) => ({ address, names: names.filter((name) => !taken.has(name)) }));
  return [...served, ...tasks].filter(({ names }) => names.length > 0);
}
