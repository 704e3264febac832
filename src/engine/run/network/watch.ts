/** Checks the networks of tasks at intervals. Damage by other programs is reported as a condition of the host. */
import type { TaskRecord } from "../../model/index.ts";
import type { TaskNetworks } from "../../network/index.ts";
import type { Conditions } from "../conditions.ts";
import { Repeating } from "../repeating.ts";
import { checkNetworks } from "./networks.ts";

const INTERVAL_MS = 60_000;

export interface NetworkWatchOptions {
  readonly networks: TaskNetworks;
  readonly conditions: Conditions;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly intervalMs: number | undefined;
}

export class NetworkWatch {
  readonly #options: NetworkWatchOptions;
  readonly #repeating: Repeating;

  constructor(options: NetworkWatchOptions) {
    this.#options = options;
    this.#repeating = new Repeating(options.intervalMs ?? INTERVAL_MS, () => this.#look());
  }

  stop(): void {
    this.#repeating.stop();
  }

  async #look(): Promise<void> {
    const { networks, conditions, records } = this.#options;
    const broken = await checkNetworks(networks, records.values());
    // A network that was removed during the check is not damaged.
    const lasting = [...broken].filter(([id]) => records.get(id)?.network);
    conditions.set("NetworkBroken", lasting.map(([id, message]) => `${id}: ${message}`).join("; "));
  }
}
