/** The network that the engine makes for a task. */
import { existsSync } from "node:fs";
import { NETWORK, specOf, type TaskRecord } from "../../model/index.ts";
import type { TaskNetworks } from "../../network/index.ts";
import { type Incarnation, isInMachine, type Runtimes } from "../../plan/index.ts";
import { hasOwnNetwork, isJoinedEarly } from "../../spec/index.ts";
import type { TaskUsers } from "../../users/index.ts";
import type { EngineLog } from "../log.ts";
import type { NetworkNames } from "../network/names.ts";
import type { Interfaces } from "./interfaces.ts";
import type { Contribution, Known, Made, TaskResource } from "./resource.ts";
import { makeUsersOfTask } from "./users.ts";

/** By which a virtual machine has its interfaces (docs/vm.md). */
const TUN = "/dev/net/tun";

export interface OwnNetworkOptions {
  readonly networks: TaskNetworks;
  readonly interfaces: Interfaces;
  readonly users: TaskUsers;
  readonly runtimes: Runtimes;
  readonly names: Pick<NetworkNames, "left">;
  readonly log: EngineLog;
}

export class OwnNetwork implements TaskResource {
  readonly name = "network";
  /**
   * Making a network runs several processes, and the kernel serialises changes of firewall rules. Of networks that are removed at once the rules are removed by one process,
   * and the namespaces, so that each runs little but its plugins.
   */
  readonly atOnce = { make: 4, unmake: 16 };
  readonly #options: OwnNetworkOptions;

  constructor(options: OwnNetworkOptions) {
    this.#options = options;
  }

  owns(member: string): boolean {
    return member === NETWORK;
  }

  async make(record: TaskRecord): Promise<Made> {
    const { networks, log } = this.#options;
    const network = await networks.during(record.id, () => this.#provision(record));
    if (network.lacks !== undefined) log("info", "network-fallback", { task: record.id, lacks: network.lacks });
    return { network };
  }

  async #provision(record: TaskRecord) {
    const { networks, interfaces, users: all, runtimes } = this.#options;
    await interfaces.take(record);
    const users = await makeUsersOfTask(all, record);
    // A virtual machine has the interfaces that are there when it boots (test/engine/vm-compose.test.ts).
    const isMachine = isInMachine(record.spec, runtimes);
    const isEarly = isJoinedEarly(record.spec) && !isMachine;
    const lacks = isMachine && !existsSync(TUN) ? `the virtual machine has no way to a network: ${TUN} is missing` : undefined;
    return networks.provision(record.id, record.group, record.spec, { users: users?.namespace, isEarly, asks: !isMachine, lacks });
  }

  async unmake({ id }: TaskRecord): Promise<void> {
    await this.#options.networks.release(id);
    await this.#options.interfaces.giveBack(id);
  }

  /** What holds the namespaces of a task joins that of a network that is being made. */
  waitsFor({ id, spec, resources }: TaskRecord, { container }: Incarnation): Promise<void> | undefined {
    const isHolder = specOf({ spec }, container) === undefined;
    const isMaking = resources.some(({ name, applied }) => name === NETWORK && applied === "CREATED");
    return isHolder && isMaking ? this.#options.networks.joinable(id) : undefined;
  }

  leaves(record: TaskRecord): Promise<void> | undefined {
    return this.#options.names.left(record);
  }

  contribute({ id, spec, network }: TaskRecord, { container }: Incarnation): Contribution {
    if (!hasOwnNetwork(spec)) return {};
    const address = network?.addresses[0]?.replace(/\/\d+$/, "");
    const names = address === undefined ? [] : (specOf({ spec }, container)?.addressEnv ?? []);
    return { network: this.#options.networks.placement(id), engineEnv: Object.fromEntries(names.map((name) => [name, address!])) };
  }

  async forget(task: string, record: TaskRecord | undefined): Promise<void> {
    if (record === undefined) await this.#options.networks.release(task);
  }

  async sweep({ records, unknown }: Known): Promise<readonly unknown[]> {
    const having = new Set(records.filter(hasNetwork).map(({ id }) => id));
    return this.#options.networks.tidy((id) => having.has(id) || unknown.some((one) => one.startsWith(`${id}.`)));
  }
}

function hasNetwork({ resources }: TaskRecord): boolean {
  return resources.some(({ name, known }) => name === NETWORK && known !== "REMOVED");
}
