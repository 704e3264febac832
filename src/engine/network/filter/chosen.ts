/** The driver of the packet filter that the operator has asked for, or the one that works on this host. It is chosen when the first rule is needed. */
import type { Attachment } from "../attachments.ts";
import { output } from "../command.ts";
import { merged, NetworkError } from "../errors.ts";
import type { FilterKind, GuardedBridge, KnownToFilter, PacketFilter, ServicePort, TaskHolds } from "./filter.ts";
import { IptablesFilter, type IptablesOptions } from "./iptables.ts";
import { NftFilter } from "./nft.ts";
import { probeNft } from "./nft-table.ts";
import { isEmpty } from "./ways.ts";

export interface ChosenFilterOptions extends IptablesOptions {
  /** auto: nft, and iptables where nft does not work. */
  readonly choice: FilterKind | "auto";
  /** Path of runt-pause. @throws PauseNotFoundError */
  readonly helper: () => string;
  /** Called once. @param because why it is not nft; undefined: it is, or the operator has asked for it */
  readonly onChosen: (kind: FilterKind, because: string | undefined) => void;
  /** Something does not work, and the rules do without it. */
  readonly onWarning: (message: string) => void;
}

export class ChosenFilter implements PacketFilter {
  readonly #options: ChosenFilterOptions;
  #driver: Promise<PacketFilter & { readonly kind: FilterKind }> | undefined;
  #onChanged: (() => void) | undefined;
  #unwatch = () => {};

  constructor(options: ChosenFilterOptions) {
    this.#options = options;
  }

  /** Which driver it is. @throws NetworkError: none works */
  async kind(): Promise<FilterKind> {
    return (await this.#chosen()).kind;
  }

  async guard(bridges: readonly GuardedBridge[]): Promise<void> {
    await (await this.#chosen()).guard(bridges);
  }

  async unguard(bridge: string): Promise<void> {
    await (await this.#chosen()).unguard(bridge);
  }

  async open(id: string, holds: TaskHolds): Promise<Pick<Attachment, "nat" | "filter">> {
    // A task without an interface on a bridge needs no driver.
    return isEmpty(holds) ? { nat: [] } : (await this.#chosen()).open(id, holds);
  }

  async close(attachment: Attachment): Promise<void> {
    const isBridged = attachment.steps.some(({ nat, plugins }) => nat !== undefined || plugins.some(({ type }) => type === "bridge"));
    if (isBridged) await (await this.#chosen()).close(attachment);
  }

  async sweep(task: string): Promise<void> {
    await (await this.#chosen()).sweep(task);
  }

  async serve(ports: readonly ServicePort[]): Promise<void> {
    await (await this.#chosen()).serve(ports);
  }

  async check(attachment: Attachment, bridges: readonly GuardedBridge[]): Promise<void> {
    if (bridges.length > 0) await (await this.#chosen()).check(attachment, bridges);
  }

  /** Before a driver is chosen there is nothing. */
  async look(known: () => Pick<KnownToFilter, "attachments" | "bridges">): Promise<string | undefined> {
    return this.#driver === undefined ? undefined : (await this.#driver).look(known);
  }

  watch(onChanged: () => void): () => void {
    this.#onChanged = onChanged;
    void this.#driver?.then((driver) => this.#watch(driver)).catch(() => {});
    return () => {
      this.#onChanged = undefined;
      this.#unwatch();
    };
  }

  #watch<T extends PacketFilter>(driver: T): T {
    if (this.#onChanged !== undefined) this.#unwatch = driver.watch(this.#onChanged);
    return driver;
  }

  async begin(known: KnownToFilter): Promise<void> {
    await (await this.#chosen()).begin(known);
  }

  #chosen(): Promise<PacketFilter & { readonly kind: FilterKind }> {
    if (this.#driver === undefined) {
      const chosen = this.#choose().then((driver) => this.#watch(driver));
      this.#driver = chosen;
      // It is tried again: a program can be installed meanwhile.
      chosen.catch(() => {
        this.#driver = undefined;
      });
    }
    return this.#driver;
  }

  async #choose(): Promise<NftFilter | IptablesFilter> {
    const { choice, onChosen, onWarning } = this.#options;
    let because: NetworkError | undefined;
    if (choice !== "iptables") {
      try {
        const withoutFrames = await probeNft(this.#options);
        onChosen("nft", undefined);
        if (withoutFrames !== undefined) onWarning(`a task can send under the address of another one of its network: ${withoutFrames}`);
        return new NftFilter({ ...this.#options, hasFrames: withoutFrames === undefined });
      } catch (error) {
        if (choice === "nft" || !(error instanceof NetworkError)) throw error;
        because = error;
      }
    }
    await output("iptables-restore", ["--version"], this.#options.timeoutMs).catch((error) => {
      throw because === undefined ? error : merged("the host has no packet filter that works", [because, error]);
    });
    onChosen("iptables", because?.message);
    return new IptablesFilter(this.#options);
  }
}
