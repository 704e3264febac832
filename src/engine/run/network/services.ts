/** How tasks reach the services of their network: by names, and by virtual addresses whose connections go to those parts that are ready. */
import { createHash } from "node:crypto";
import { type NetworkRecord, readinessOf, specOf, type TaskRecord } from "../../model/index.ts";
import { type FlowsTo, type Known, type NamedTask, type TaskNetworks, withoutPrefix } from "../../network/index.ts";
import { isInMachine, type Named, type ReachedService, type Runtimes } from "../../plan/index.ts";
import { dotted, rangeOf } from "../../spec/index.ts";
import type { EngineLog } from "../log.ts";
import { grouped, Unchanged } from "./unchanged.ts";
import { Upkeep } from "./upkeep.ts";

type ServiceSpec = NonNullable<NonNullable<TaskRecord["spec"]["network"]>["services"]>[number];

/** A task that serves now. */
interface Part {
  readonly id: string;
  readonly address: string;
  readonly said: ServiceSpec;
}

export interface Service {
  /** The same for tasks that are in its network. */
  readonly network: string;
  readonly names: readonly string[];
  /** undefined: the names lead to the parts themselves. */
  readonly address: string | undefined;
  readonly parts: readonly Part[];
  /** Ids of all tasks that are a part of it when they are ready. */
  readonly members: readonly string[];
}

/** Addresses for measurements of networks (RFC 2544), which no network has. Only rules in the namespaces of tasks know them. */
const VIRTUAL = rangeOf("198.18.0.0/15")!;
const COUNT = VIRTUAL.last - VIRTUAL.first - 1;

/** A new task gets no connections before it is proven, if an earlier one of its name serves. Pure. */
export function heldBack(records: readonly TaskRecord[], unproven: ReadonlySet<string>): ReadonlySet<string> {
  if (unproven.size === 0) return unproven;
  const nameOf = ({ group, name }: TaskRecord) => `${group} ${name}`;
  const serving = grouped(records.filter(isServing), nameOf);
  const hasOther = (one: TaskRecord) => serving.get(nameOf(one))?.some(({ id }) => id !== one.id) === true;
  return new Set(records.flatMap((one) => (unproven.has(one.id) && hasOther(one) ? [one.id] : [])));
}

/** Of all networks. A service has its address as long as a task says that it is a part of it. Pure. @param held ids of tasks that get no connections (heldBack) */
export function servicesOf(records: readonly TaskRecord[], held: ReadonlySet<string> = new Set()): readonly Service[] {
  const found = new Map<string, { network: string; said: ServiceSpec; records: { record: TaskRecord; said: ServiceSpec }[] }>();
  for (const record of records) {
    const network = networkOf(record);
    for (const said of network === undefined ? [] : (record.spec.network!.services ?? [])) {
      const key = `${network} ${said.names[0]}`;
      const all = found.get(key)?.records ?? [];
      all.push({ record, said });
      // While a task is replaced the newer one says what the service is.
      found.set(key, { network: network!, said, records: all });
    }
  }
  const addresses = addressesOf([...found].map(([key, { said }]) => [key, said.address]));
  return [...found].map(([key, { network, said, records: all }]) => ({
    network,
    names: said.names,
    address: addresses.get(key),
    parts: all.flatMap(({ record, said: own }) =>
      own.unready === true || (isServing(record) && !held.has(record.id)) ? partOf(record, own) : [],
    ),
    members: all.map(({ record }) => record.id),
  }));
}

function partOf({ id, network }: TaskRecord, said: ServiceSpec): Part[] {
  const address = network?.addresses.find((one) => !one.includes(":"));
  return address === undefined ? [] : [{ id, address: withoutPrefix(address), said }];
}

/** Virtual addresses by service. Where two would have the same, the one whose name comes later gets the next. */
function addressesOf(all: readonly (readonly [string, ServiceSpec["address"]])[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [key, asked] of all) if (asked !== undefined && asked !== "none") found.set(key, asked);
  const taken = new Set(found.values());
  for (const [key] of all.filter(([, asked]) => asked === undefined).sort(([a], [b]) => (a < b ? -1 : 1))) {
    let at = createHash("sha256").update(key).digest().readUInt32BE() % COUNT;
    while (taken.has(dotted(VIRTUAL.first + 1 + at))) at = (at + 1) % COUNT;
    const address = dotted(VIRTUAL.first + 1 + at);
    found.set(key, address);
    taken.add(address);
  }
  return found;
}

/** Whether connections may be led to it. The check of an image, which its task does not have, is none of the task's. */
export function isServing(record: TaskRecord): boolean {
  const containers = record.containers.map((one) => (specOf(record, one.name)?.healthCheck === undefined ? { ...one, health: null } : one));
  return record.known === "RUNNING" && readinessOf({ ...record, containers }).state === "ready" && !containers.some(isEnding);
}

/** A container that is about to be stopped, also to be restarted, is still ready. */
function isEnding({ type, known, desired, applied, isRestartAsked, preStop }: TaskRecord["containers"][number]): boolean {
  if (type === "namespacePause" || known === "STOPPED") return false;
  return desired === "STOPPED" || applied === "STOPPED" || isRestartAsked || preStop === "running";
}

/** undefined: it is in no network with a name. */
function networkOf({ group, spec: { network } }: Pick<TaskRecord, "group" | "spec">): string | undefined {
  return network?.name === undefined ? undefined : `${network.shared ? "" : group}.${network.name}`;
}

/** What the resolver is told of tasks and services. Pure. */
export function namesOf(records: readonly TaskRecord[], services: readonly Service[] = servicesOf(records)): Known {
  const byNetwork = grouped(services, ({ network }) => network);
  const tasks = records.flatMap(({ id, name, group, spec, network: has }): NamedTask[] => {
    const { network } = spec;
    if (network?.name === undefined || !has) return [];
    const here = byNetwork.get(networkOf({ group, spec })!) ?? [];
    const own = here.flatMap(({ address, names, parts }) =>
      address === undefined ? parts.filter((one) => one.id === id).flatMap(({ said }) => [...names, ...(said.hosts ?? [])]) : [],
    );
    const isTaken = here.some(({ names }) => names.includes(name));
    return [{ id, name: isTaken ? "" : name, network: { ...network, aliases: [...(network.aliases ?? []), ...own] } }];
  });
  return { tasks, services: services.flatMap(({ address, ...one }) => (address === undefined ? [] : [{ ...one, address }])) };
}

/** Lines of the hosts file of a task. @param services of its network. @param hasAddresses whether rules lead it to virtual addresses; otherwise the names lead to the parts. Pure. */
export function serviceNames(services: readonly Service[], hasAddresses: boolean): readonly Named[] {
  return services.flatMap(({ names, address, parts }): Named[] => {
    if (address !== undefined && hasAddresses) return [{ address, names: [...names] }];
    return parts.map((one) => ({ address: one.address, names: [...names, ...(one.said.hosts ?? [])] }));
  });
}

/** Those with an address, as a task reaches them. @param services of its network. Pure. */
export function reachedBy(record: Pick<TaskRecord, "id">, services: readonly Service[]): readonly ReachedService[] {
  return services.flatMap(({ address, parts }) => {
    if (address === undefined) return [];
    const ports = new Map<string, { port: number; protocol: "tcp" | "udp"; to: string[] }>();
    for (const { address: of, said } of chosen(record, parts)) {
      for (const { port, protocol, to } of said.ports) {
        const one = ports.get(`${port}/${protocol}`) ?? { port, protocol, to: [] };
        if (said.sticky === undefined || one.to.length === 0) one.to.push(`${of}:${to}`);
        ports.set(`${port}/${protocol}`, one);
      }
    }
    return [{ address, ports: [...ports.values()] }];
  });
}

/** Of a sticky service a task reaches the first part. The order depends on both, so that tasks have different ones, and each keeps its own when others come and go. */
function chosen({ id }: Pick<TaskRecord, "id">, parts: readonly Part[]): readonly Part[] {
  if (!isSticky(parts)) return parts;
  const ranked = parts.map((part) => ({ part, rank: createHash("sha256").update(`${id} ${part.id}`).digest("hex") }));
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ part }) => part);
}

function isSticky(parts: readonly Part[]): boolean {
  return parts.some(({ said }) => said.sticky);
}

/** Ports of UDP, as `endFlows` asks for them: the kernel asks the rules only for the first packet of a flow. */
function flowsTo(reached: readonly ReachedService[]): readonly FlowsTo[] {
  return reached.flatMap(({ address, ports }) =>
    ports.filter(({ protocol }) => protocol === "udp").map(({ port, to }) => ({ address, port, kept: to })),
  );
}

/** What a task reaches. */
interface Reached {
  readonly reached: readonly ReachedService[];
  /** Of `reached`, to compare it. */
  readonly text: string;
  readonly flows: readonly FlowsTo[];
}

function reachedOf(record: Pick<TaskRecord, "id">, services: readonly Service[]): Reached {
  const reached = reachedBy(record, services);
  return { reached, text: JSON.stringify(reached), flows: flowsTo(reached) };
}

const NOTHING: Reached = { reached: [], text: "[]", flows: [] };

interface Asked extends Reached {
  readonly network: NetworkRecord;
  /** The network in which it reaches services. */
  readonly place: string | undefined;
  readonly spec: TaskRecord["spec"];
}

export interface NetworkServicesOptions {
  readonly networks: Pick<TaskNetworks, "serve">;
  readonly runtimes: Runtimes;
  readonly log: EngineLog;
  /** Called with the id of a task that has rules for the first time. */
  readonly onSet: (id: string) => void;
}

/** Keeps the rules of tasks up to date. */
export class NetworkServices {
  readonly #runtimes: Runtimes;
  readonly #rules: Upkeep<Asked>;
  /** By network. */
  readonly #services = new Unchanged<readonly Service[]>();
  /** What tasks reach by the services of their networks: by task id where that differs, else by network. */
  #reached = new Map<string, { readonly services: readonly Service[]; readonly found: Reached }>();
  /** What the tasks have that have rules. */
  readonly #having = new Map<string, Asked>();

  constructor({ networks, runtimes, log, onSet }: NetworkServicesOptions) {
    this.#runtimes = runtimes;
    this.#rules = new Upkeep({
      isSame: (a, b) => a.network === b.network && a.text === b.text,
      set: async (id, { network, spec, reached, flows }) => {
        const known = this.#having.get(id);
        const same = new Set(known?.network === network ? known.flows.map((one) => JSON.stringify(one)) : []);
        await networks.serve(
          id,
          spec,
          reached,
          flows.filter((one) => !same.has(JSON.stringify(one))),
        );
      },
      onSet: (id, asked) => {
        const before = this.#having.get(id);
        this.#having.set(id, asked);
        if (before?.network !== asked.network) onSet(id);
      },
      onFailed: (id, error) => log("error", "services-not-set", { task: id, message: String(error) }),
    });
  }

  /** What the names of services lead to in a task: virtual addresses, or in a machine the parts. undefined: its rules are not set yet. */
  leadTo({ id, spec, network }: TaskRecord): "addresses" | "parts" | undefined {
    if (isInMachine(spec, this.#runtimes)) return "parts";
    return this.#rules.of(id)?.state === "pending" && this.#having.get(id)?.network !== network ? undefined : "addresses";
  }

  /** Called after each transaction. What is sent by a virtual machine passes no rules of the host's namespace. */
  refresh(records: readonly TaskRecord[], services: readonly Service[]): void {
    const known = new Map(records.flatMap((one) => (one.network && networkOf(one) !== undefined ? [[one.id, one]] : [])));
    this.#rules.retain((id) => known.has(id));
    for (const id of this.#having.keys()) if (!known.has(id)) this.#having.delete(id);
    this.#services.renew(grouped(services, ({ network }) => network));
    const before = this.#reached;
    this.#reached = new Map();
    for (const [id, record] of known) {
      const [place, { spec }] = [networkOf(record)!, record];
      const found = isInMachine(spec, this.#runtimes) ? NOTHING : this.#find(record, place, before);
      if (found.reached.length > 0 || this.#rules.of(id) !== undefined)
        this.#rules.ask(id, { network: record.network!, place, spec, ...found });
    }
  }

  /** Tasks of a network reach the same, unless a service of it is sticky. */
  #find(
    { id }: TaskRecord,
    place: string,
    before: ReadonlyMap<string, { readonly services: readonly Service[]; readonly found: Reached }>,
  ): Reached {
    const services = this.#services.get(place);
    if (services === undefined) return NOTHING;
    const key = services.some(({ parts }) => isSticky(parts)) ? `task ${id}` : `network ${place}`;
    const known = this.#reached.get(key) ?? before.get(key);
    const entry = known?.services === services ? known : { services, found: reachedOf({ id }, services) };
    this.#reached.set(key, entry);
    return entry.found;
  }

  /** Resolves when all tasks of the network of this one have the rules of the last `refresh`, or could not get them. Tasks of other networks cannot delay it. */
  settled(record: TaskRecord): Promise<void> {
    const network = networkOf(record);
    return this.#rules.settled((id) => this.#rules.of(id)?.asked.place === network);
  }
}
