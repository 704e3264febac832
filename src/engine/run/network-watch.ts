/** Checks the networks of tasks now and then. Damage from outside the engine is reported as a condition of the host. */
import type { TaskRecord } from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import type { Conditions } from "./conditions.ts";
import { checkNetworks } from "./networks.ts";

const INTERVAL_MS = 60_000;

export interface NetworkWatchOptions {
  readonly networks: TaskNetworks;
  readonly conditions: Conditions;
  /** By id, as they are when it is called. */
  readonly records: () => ReadonlyMap<string, TaskRecord>;
  readonly intervalMs: number | undefined;
}

export class NetworkWatch {
  readonly #options: NetworkWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor(options: NetworkWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), options.intervalMs ?? INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { networks, conditions, records } = this.#options;
    try {
      const broken = await checkNetworks(networks, records().values());
      // One that was given back meanwhile is no longer as it was made.
      const lasting = [...broken].filter(([id]) => records().get(id)?.network);
      conditions.set("NetworkBroken", lasting.map(([id, message]) => `${id}: ${message}`).join("; "));
    } finally {
      this.#isLooking = false;
    }
  }
}
