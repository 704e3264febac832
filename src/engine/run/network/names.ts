/** Keeps the hosts files of tasks in named networks up to date, so that tasks find each other by name. */
import { setImmediate, setTimeout } from "node:timers/promises";
import type { NetworkRecord, TaskRecord } from "../../model/index.ts";
import { type Known, type TaskNetworks, withoutPrefix } from "../../network/index.ts";
import { isInMachine, type Named, type Runtimes, viaRoutes } from "../../plan/index.ts";
import type { EngineLog } from "../log.ts";
import { accepted } from "./accepting.ts";
import { type Drain, Draining, drainedPorts } from "./draining.ts";
import { HostPorts } from "./host-ports.ts";
import { foundAs, membershipsOf, networkIdsOf, Peers } from "./peers.ts";
import { heldBack, NetworkServices, namesOf, servicesOf } from "./services.ts";
import { Upkeep } from "./upkeep.ts";

/**
 * A packet filter that does not answer must not keep a task from its end. On a busy host nft and iptables need seconds, and a task that is stopped before they are done loses
 * connections. A task with CAP_NET_ADMIN can make the rules in its own namespace slow: that delays the stops of tasks in its networks by this time.
 */
const LONGEST_LEAVE_MS = 10_000;

export interface NetworkNamesOptions {
  readonly networks: TaskNetworks;
  readonly runtimes: Runtimes;
  readonly records: ReadonlyMap<string, TaskRecord>;
  /** Ids of tasks that have not shown yet that they work (unprovenTasks). */
  readonly unproven: () => ReadonlySet<string>;
  readonly log: EngineLog;
}

export class NetworkNames {
  readonly #networks: TaskNetworks;
  readonly #services: NetworkServices;
  readonly #ports: HostPorts;
  readonly #draining: Draining;
  readonly #isCountable: (record: TaskRecord) => boolean;
  readonly #records: () => readonly TaskRecord[];
  readonly #unproven: NetworkNamesOptions["unproven"];
  readonly #peers: Peers;

  constructor({ networks, runtimes, records, unproven, log }: NetworkNamesOptions) {
    this.#unproven = unproven;
    this.#networks = networks;
    this.#records = () => [...records.values()];
    this.#services = new NetworkServices({ networks, runtimes, log, onSet: (id) => this.#peers.ask(id) });
    this.#peers = new Peers({
      write: ({ id, spec, network }, peers) => networks.writePeers(id, spec, network!.addresses, peers),
      leadTo: (record) => this.#services.leadTo(record),
      log,
    });
    this.#ports = new HostPorts(networks.servicePorts, log);
    this.#isCountable = ({ spec }) => !isInMachine(spec, runtimes);
    this.#draining = new Draining({ count: (id, ports) => networks.connections(id, ports), isCountable: this.#isCountable });
  }

  /** Resolves when no new connection is led to a task that is to be stopped, its program has accepted those that were, and those that are to be awaited have ended, or this takes too long; undefined: it is part of no service. */
  left(record: TaskRecord): Promise<void> | undefined {
    const { network } = record.spec;
    const isPart = network?.services !== undefined || network?.ports.some(({ service }) => service !== undefined);
    return isPart ? this.#left(record) : undefined;
  }

  /** Whose connections are awaited before it is stopped; undefined: they are not. */
  drainOf(id: string): Drain | undefined {
    return this.#draining.of(id);
  }

  async #left(record: TaskRecord): Promise<void> {
    // What has decided to stop the task is followed by `refresh` before anything else happens.
    await setImmediate();
    const isSettled = Promise.all([this.#services.settled(record), this.#ports.settled()]);
    await Promise.race([isSettled, setTimeout(LONGEST_LEAVE_MS, undefined, { ref: false })]);
    const ports = drainedPorts(record);
    const isCountable = ports.size > 0 && this.#isCountable(record);
    await accepted(isCountable ? () => this.#networks.unaccepted(record.id, ports) : undefined);
    await this.#draining.drained(record);
  }

  /** What the resolver is to answer. */
  known(): Known {
    const records = this.#records();
    return namesOf(records, servicesOf(records, heldBack(records, this.#unproven())));
  }

  /** Called after each transaction. */
  refresh(): void {
    const records = this.#records();
    const ids = new Set(records.map(({ id }) => id));
    this.#draining.retain((id) => ids.has(id));
    const held = heldBack(records, this.#unproven());
    const services = servicesOf(records, held);
    this.#networks.names.know(namesOf(records, services));
    this.#services.refresh(records, services);
    this.#ports.refresh(records, held);
    const named = records.filter(({ spec, network }) => spec.network?.name !== undefined && network);
    this.#peers.refresh(named, services);
  }
}

/** Addresses and names under which one task finds another: one entry for each network that both are in. */
export function namesFor(
  record: Pick<TaskRecord, "group" | "spec">,
  other: Pick<TaskRecord, "group" | "name" | "spec" | "network">,
): readonly Named[] {
  const own = networkIdsOf(record);
  return membershipsOf(other).flatMap((member) => (own.includes(member.network) ? [foundAs(member, record)] : []));
}

/** The address at which a task reaches another task of its group: in a network that both are in, or, if neither names a network, on the default bridge. */
export function addressFor(
  record: Pick<TaskRecord, "group" | "spec">,
  other: Pick<TaskRecord, "group" | "name" | "spec" | "network">,
): string | undefined {
  if (record.group !== other.group) return undefined;
  if (record.spec.network?.name !== undefined) return namesFor(record, other)[0]?.address;
  const address = other.spec.network?.name === undefined ? other.network?.addresses[0] : undefined;
  return address && withoutPrefix(address);
}

interface Routes {
  readonly network: NetworkRecord;
  readonly routing: string;
}

/** Keeps the routes of tasks with `network.via` up to date. Such a task reaches some addresses through another task, whose own address changes when it is replaced. */
export class NetworkRoutes {
  /** By task id. A task with another network record has a new namespace, which needs its routes again. */
  readonly #routes: Upkeep<Routes>;

  constructor(networks: Pick<TaskNetworks, "route">, log: EngineLog) {
    this.#routes = new Upkeep({
      isSame: (a, b) => a.network === b.network && a.routing === b.routing,
      set: (id, { routing }) => networks.route(id, routing),
      onFailed: (id, error) => log("error", "ways-not-set", { task: id, message: String(error) }),
    });
  }

  /** Called after each transaction. */
  refresh(records: readonly TaskRecord[]): void {
    const asking = new Map(records.flatMap((one) => (one.spec.network?.via !== undefined && one.network ? [[one.id, one]] : [])));
    this.#routes.retain((id) => asking.has(id));
    for (const [id, record] of asking) this.#routes.ask(id, { network: record.network!, routing: routingOf(record, records) });
  }
}

function routingOf(record: TaskRecord, records: readonly TaskRecord[]): string {
  const lines = record.spec.network!.via!.flatMap(({ task, addresses }) => {
    // If two tasks have the same name, the newer one counts, as in the hosts file.
    const isOther = (one: TaskRecord) => one.name === task && one !== record && addressFor(record, one) !== undefined;
    const other = records.findLast(isOther);
    return viaRoutes(addresses, other && addressFor(record, other));
  });
  return lines.map((line) => `${line}\n`).join("");
}
