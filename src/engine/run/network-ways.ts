/** Ways of tasks to addresses that another task of their network has taken over (network.via): that task may come, go, and come again with another address. */
import type { NetworkRecord, TaskRecord } from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import { viaRoutes } from "../plan/index.ts";
import type { EngineLog } from "./log.ts";
import { addressFor } from "./network-names.ts";

interface Way {
  readonly network: NetworkRecord;
  readonly routing: string;
}

export class NetworkWays {
  readonly #networks: Pick<TaskNetworks, "route">;
  readonly #log: EngineLog;
  /** By id of the task, as they are or will be; of another network record they are to be made anew. */
  readonly #ways = new Map<string, Way>();
  /** One after the other: a later way must not be overtaken by an earlier one. */
  #turn: Promise<void> = Promise.resolve();

  constructor(networks: Pick<TaskNetworks, "route">, log: EngineLog) {
    this.#networks = networks;
    this.#log = log;
  }

  /** After each transaction. */
  refresh(records: readonly TaskRecord[]): void {
    const asking = records.filter(({ spec, network }) => spec.network?.via !== undefined && network);
    for (const id of this.#ways.keys()) if (!asking.some((one) => one.id === id)) this.#ways.delete(id);
    for (const record of asking) {
      const routing = routingOf(record, records);
      const before = this.#ways.get(record.id);
      if (before?.network === record.network && before?.routing === routing) continue;
      const way: Way = { network: record.network!, routing };
      this.#ways.set(record.id, way);
      this.#turn = this.#turn.then(() => this.#set(record.id, way));
    }
  }

  async #set(id: string, way: Way): Promise<void> {
    if (this.#ways.get(id) !== way) return;
    try {
      await this.#networks.route(id, way.routing);
    } catch (error) {
      // The next change tries it again. What has gone meanwhile needs no way.
      if (this.#ways.get(id) !== way) return;
      this.#ways.delete(id);
      this.#log("error", "ways-not-set", { task: id, message: String(error) });
    }
  }
}

function routingOf(record: TaskRecord, records: readonly TaskRecord[]): string {
  const lines = record.spec.network!.via!.flatMap(({ task, addresses }) => {
    // Of two with one name the newer counts, as in the hosts file.
    const isOther = (one: TaskRecord) => one.name === task && one !== record && addressFor(record, one) !== undefined;
    const other = records.findLast(isOther);
    return viaRoutes(addresses, other && addressFor(record, other));
  });
  return lines.map((line) => `${line}\n`).join("");
}
