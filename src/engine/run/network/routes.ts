/** Keeps the routes of tasks with `network.via` up to date. Such a task reaches some addresses through another task, whose own address changes when it is replaced. */
import type { NetworkRecord, TaskRecord } from "../../model/index.ts";
import type { TaskNetworks } from "../../network/index.ts";
import { viaRoutes } from "../../plan/index.ts";
import type { EngineLog } from "../log.ts";
import { addressFor } from "./names.ts";

interface Routes {
  readonly network: NetworkRecord;
  readonly routing: string;
}

export class NetworkRoutes {
  readonly #networks: Pick<TaskNetworks, "route">;
  readonly #log: EngineLog;
  /** Routes by task id, as they are set or about to be set. A task with another network record has a new namespace, which needs them again. */
  readonly #routes = new Map<string, Routes>();
  /** Changes are made one after the other, so that an old route never replaces a newer one. */
  #turn: Promise<void> = Promise.resolve();

  constructor(networks: Pick<TaskNetworks, "route">, log: EngineLog) {
    this.#networks = networks;
    this.#log = log;
  }

  /** Called after each transaction. */
  refresh(records: readonly TaskRecord[]): void {
    const asking = records.filter(({ spec, network }) => spec.network?.via !== undefined && network);
    for (const id of this.#routes.keys()) if (!asking.some((one) => one.id === id)) this.#routes.delete(id);
    for (const record of asking) {
      const routing = routingOf(record, records);
      const before = this.#routes.get(record.id);
      if (before?.network === record.network && before?.routing === routing) continue;
      const routes: Routes = { network: record.network!, routing };
      this.#routes.set(record.id, routes);
      this.#turn = this.#turn.then(() => this.#set(record.id, routes));
    }
  }

  async #set(id: string, routes: Routes): Promise<void> {
    if (this.#routes.get(id) !== routes) return;
    try {
      await this.#networks.route(id, routes.routing);
    } catch (error) {
      // The next transaction tries again. A task that was removed meanwhile needs no route.
      if (this.#routes.get(id) !== routes) return;
      this.#routes.delete(id);
      this.#log("error", "ways-not-set", { task: id, message: String(error) });
    }
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
