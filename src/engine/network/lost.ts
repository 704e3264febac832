/** Networks of tasks whose records are gone or damaged: what the host has of them is found by the id of the task, in leases and rules. */
import type { Bridges } from "./bridges.ts";
import type { Networks } from "./networks.ts";
import { isLeased, type TidyOptions, tidyLeases, tidyRules } from "./tidy.ts";

export interface LostOptions {
  readonly tidying: TidyOptions;
  readonly networks: Networks;
  readonly bridges: Bridges;
}

export class Lost {
  readonly #options: LostOptions;

  constructor(options: LostOptions) {
    this.#options = options;
  }

  /** @throws NetworkError: something is left; the call may be repeated */
  async sweep(id: string): Promise<void> {
    const { tidying, networks, bridges } = this.#options;
    // Without a bridge there are no rules, so that iptables need not be installed.
    if (networks.written().length === 0) return;
    const isOther = (one: string) => one !== id;
    tidyLeases(tidying, isOther);
    await tidyRules(tidying, isOther);
    const plugins = this.unleased().map((bridge) => ({ type: "bridge", bridge }));
    try {
      await bridges.leave({ containerId: id, steps: [{ name: "", interface: "", needsAddress: false, plugins }] });
    } finally {
      bridges.left(id);
    }
  }

  /** Bridges of networks of which no task has an address: a task whose record is lost still has its own, and may be running. */
  unleased(): string[] {
    const { tidying, networks } = this.#options;
    return networks.written().flatMap(({ name, bridge }) => (isLeased(tidying.leases, name) ? [] : [bridge]));
  }
}
