/** What the packet filter of the host does for the networks of tasks. */
import { writeFileSync } from "node:fs";
import type { NetworkStep } from "../plan/index.ts";
import type { CniResult } from "./answer.ts";
import type { Attachment, Attachments } from "./attachments.ts";
import { withoutPrefix } from "./files.ts";
import { ChosenFilter, type ChosenFilterOptions } from "./filter/chosen.ts";
import { holdsOf } from "./filter/ways.ts";
import { endFlows, type FlowsTo } from "./flows.ts";
import { BridgeGuards } from "./guard.ts";
import { ServicePorts } from "./service-ports.ts";

export interface HostFilterOptions extends ChosenFilterOptions {
  readonly attachments: Attachments;
  readonly bootId: string;
}

/** Rules of tasks whose networks are there. */
interface Kept {
  /** Whether a task may have a network, also if its attachment is lost. */
  readonly isKnown: (id: string) => boolean;
  /** Bridges by which no task has an address. */
  readonly unleased: readonly string[];
}

export class HostFilter {
  readonly #options: HostFilterOptions;
  readonly filter: ChosenFilter;
  readonly guards: BridgeGuards;
  readonly servicePorts: ServicePorts;

  constructor(options: HostFilterOptions) {
    this.#options = options;
    this.filter = new ChosenFilter(options);
    this.guards = new BridgeGuards(options.attachments, this.filter);
    this.servicePorts = new ServicePorts({ filter: this.filter, endFlows: (flows) => this.#endFlows(flows) });
  }

  /** Opens the ways of a task through the host. Returns what its attachment keeps of it. @throws NetworkError; the errors of open(2); PauseNotFoundError */
  async open(id: string, steps: readonly NetworkStep[], results: readonly CniResult[]): Promise<Pick<Attachment, "nat" | "filter">> {
    for (const { nat = [], serves = false, plugins } of steps) {
      const bridge = plugins.find(({ type }) => type === "bridge")?.["bridge"];
      // Otherwise the kernel drops what comes from 127.0.0.1 and leaves by another interface.
      if (nat.length > 0 || serves) writeFileSync(`/proc/sys/net/ipv4/conf/${bridge}/route_localnet`, "1");
    }
    const holds = holdsOf(steps, results);
    const kept = await this.filter.open(id, holds);
    // A flow of UDP to an earlier task that had the port goes on as long as its client sends.
    for (const { range, ports } of holds.ways)
      for (const { host, container, protocol, address } of ports)
        if (protocol === "udp") await this.#endFlows({ address, port: host, kept: [`${withoutPrefix(range)}:${container}`] });
    return kept;
  }

  /** @throws NetworkError: rules of a task are missing */
  async check(attachment: Attachment): Promise<void> {
    this.guards.check(attachment.steps);
    await this.filter.check(attachment, this.guards.of(attachment.steps));
  }

  /** Writes rules of the host again that another program has removed or changed. Returns what that was; undefined: nothing. @throws NetworkError; PauseNotFoundError */
  async mend(): Promise<string | undefined> {
    const told = await this.filter.look(() => ({ attachments: this.#present(), bridges: this.guards.all() }));
    if (told !== undefined) await this.servicePorts.mended();
    return told;
  }

  /** From now on calls this when another program has perhaps changed rules, so that `mend` is to be called. Returns what ends that. */
  watch(onChanged: () => void): () => void {
    return this.filter.watch(onChanged);
  }

  /** Called once at the start: takes over what is there, and removes what no task has. @throws NetworkError; the errors of the system calls */
  async begin(kept: Kept): Promise<void> {
    const write = (attachment: Attachment) => this.#options.attachments.write(attachment);
    await this.filter.begin({ attachments: this.#present(), bridges: this.guards.all(), write, ...kept });
  }

  /** Networks that are complete, and were made in this boot. */
  #present(): Attachment[] {
    const { attachments, bootId } = this.#options;
    return attachments.all().filter((one) => one.results !== null && one.bootId === bootId);
  }

  async #endFlows(flows: FlowsTo): Promise<void> {
    const { helper, timeoutMs } = this.#options;
    await endFlows(flows, { helper: helper(), timeoutMs });
  }
}
