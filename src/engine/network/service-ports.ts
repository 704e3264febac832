/** Ports of the host that belong to services. They are of the whole engine, so that one transaction writes them for all tasks. */
import { withoutPrefix } from "./files.ts";
import type { PacketFilter, ServicePort } from "./filter/filter.ts";
import type { FlowsTo } from "./flows.ts";

export interface ServicePortsOptions {
  readonly filter: Pick<PacketFilter, "serve">;
  /** Ends flows of UDP that lead elsewhere than the rules. */
  readonly endFlows: (flows: FlowsTo) => Promise<void>;
}

export class ServicePorts {
  readonly #options: ServicePortsOptions;
  #ports: readonly ServicePort[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ServicePortsOptions) {
    this.#options = options;
  }

  /** Takes the place of what was there: of the packets that lead to tasks, in one transaction. @throws NetworkError program-missing, program-failed; what `endFlows` throws */
  set(ports: readonly ServicePort[]): Promise<void> {
    const done = this.#last.then(async () => {
      const before = this.#ports;
      await this.#options.filter.serve(ports);
      this.#ports = ports;
      await this.#endFlows(before);
    });
    this.#last = done.catch(() => {});
    return done;
  }

  /** The rules were missing for some time, in which flows may have begun that lead elsewhere. @throws what `endFlows` throws */
  async mended(): Promise<void> {
    await this.#endFlows([]);
  }

  /** The kernel asks the rules only for the first packet of a flow, and a flow of UDP lasts as long as its client sends. */
  async #endFlows(before: readonly ServicePort[]): Promise<void> {
    const known = new Set(before.map((port) => JSON.stringify(port)));
    const changed = this.#ports.filter((port) => port.protocol === "udp" && !known.has(JSON.stringify(port)));
    for (const { address, host, to } of changed)
      await this.#options.endFlows({ address, port: host, kept: to.map((one) => `${withoutPrefix(one.address)}:${one.port}`) });
  }
}
