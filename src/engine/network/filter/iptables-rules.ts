/** What the driver of iptables, or an earlier version, has left in the host's tables, for another driver that takes it over. On a host without iptables there is nothing. */
import { NetworkError } from "../errors.ts";
import type { KnownToFilter } from "./filter.ts";
import { IptablesGuards } from "./iptables-guards.ts";
import { removalOf, restoreNat, savedRules, sweepRules } from "./iptables-saved.ts";
import { IptablesServices } from "./iptables-services.ts";

export interface IptablesRulesOptions {
  /** Of this engine, 8 characters. */
  readonly key: string;
  /** Of the names of this engine's networks. */
  readonly prefix: string;
  readonly timeoutMs: number;
}

export class IptablesRules {
  readonly #options: IptablesRulesOptions;
  /** Some are those of tasks whose records are lost. */
  #isLeft = false;
  #hasServices = false;

  constructor(options: IptablesRulesOptions) {
    this.#options = options;
  }

  /** Removes what is no longer needed. @throws NetworkError program-failed */
  async remove({ attachments, bridges, isKnown, unleased }: KnownToFilter): Promise<void> {
    const { key, prefix, timeoutMs } = this.#options;
    const saved = await this.#saved();
    if (!new RegExp(`${prefix}-|RUNT-PORTS-${key}`).test(saved)) return;
    const ids = new Set(attachments.map(({ containerId }) => containerId));
    const isLeft = ({ network }: { readonly network: string }) => network.startsWith(`${prefix}-`);
    const lines = removalOf(saved, (owner) => isLeft(owner) && (ids.has(owner.id) || !isKnown(owner.id)));
    if (lines.length > 0) await restoreNat(lines, timeoutMs);
    const used = new Set(bridges.map(({ bridge }) => bridge));
    await new IptablesGuards(timeoutMs).sweep(`${prefix}-`, (bridge) => used.has(bridge) || unleased.includes(bridge));
    this.#hasServices = await new IptablesServices({ key, timeoutMs }).tidy(isKnown);
    this.#isLeft = (await this.#saved()).includes(`${prefix}-`);
  }

  /** The ports of services are led elsewhere now. @throws NetworkError program-failed */
  async dropServices(): Promise<void> {
    if (!this.#hasServices) return;
    await new IptablesServices(this.#options).set([]);
    this.#hasServices = false;
  }

  /** Removes the rules of a task whose record is lost. @throws NetworkError program-failed */
  async sweep(task: string): Promise<void> {
    const { prefix, timeoutMs } = this.#options;
    if (this.#isLeft) await sweepRules(({ network, id }) => network.startsWith(`${prefix}-`) && id === task, timeoutMs);
  }

  async #saved(): Promise<string> {
    try {
      return await savedRules(this.#options.timeoutMs);
    } catch (error) {
      if (error instanceof NetworkError && error.code === "program-missing") return "";
      throw error;
    }
  }
}
