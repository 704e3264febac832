/** Keeps the rules of the host for ports that belong to services. They are of the whole engine, so that one program writes them for all tasks. */
import { output } from "./command.ts";
import { withoutPrefix } from "./files.ts";
import type { FlowsTo } from "./flows.ts";
import { isWhole, type Section, type ServicePort, sectionsOf, tasksIn, written } from "./service-rules.ts";

export interface ServicePortsOptions {
  /** Of this engine, 8 characters. */
  readonly key: string;
  readonly timeoutMs: number;
  /** Ends flows of UDP that lead elsewhere than the rules. */
  readonly endFlows: (flows: FlowsTo) => Promise<void>;
}

export class ServicePorts {
  readonly #options: ServicePortsOptions;
  /** What is to be there; undefined: nothing was asked for yet, and an earlier process may have written some. */
  #ports: readonly ServicePort[] | undefined;
  /** What this process has written last. */
  #written: readonly Section[] | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ServicePortsOptions) {
    this.#options = options;
  }

  /** Takes the place of what was there: of the packets that lead to tasks, in one transaction. @throws NetworkError program-missing, program-failed; what `endFlows` throws */
  set(ports: readonly ServicePort[]): Promise<void> {
    const before = this.#ports;
    this.#ports = ports;
    return this.#inTurn(async () => {
      await this.#write(ports, this.#written === undefined ? await this.#saved() : undefined);
      await this.#endFlows(ports, before);
    });
  }

  /** Writes them again if another program has removed some. Returns whether it had to. @throws as `set` */
  look(): Promise<boolean> {
    return this.#inTurn(async () => {
      const ports = this.#ports;
      if (ports === undefined || ports.length === 0) return false;
      const saved = await this.#saved();
      if (sectionsOf(this.#options.key, ports).every((section) => isWhole(section, saved))) return false;
      this.#written = undefined;
      await this.#write(ports, saved);
      await this.#endFlows(ports, undefined);
      return true;
    });
  }

  /** Removes what an earlier process has left, if no task that is known has a part in it. @throws NetworkError program-missing, program-failed */
  tidy(isKnown: (id: string) => boolean): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#ports !== undefined) return;
      const saved = await this.#saved();
      if (!tasksIn(saved, this.#options.key).some(isKnown)) await this.#write([], saved);
      this.#written = undefined;
    });
  }

  /** @param saved of iptables-save(8); undefined: it is read if that is necessary */
  async #write(ports: readonly ServicePort[], saved?: string): Promise<void> {
    const { key, timeoutMs } = this.#options;
    const sections = sectionsOf(key, ports);
    const before = this.#written;
    // If this fails, the next attempt looks at what is there.
    this.#written = undefined;
    const isKnown = before !== undefined && sections.every(({ rules }, at) => rules.length > 0 === before[at]!.rules.length > 0);
    const found = saved ?? (isKnown ? undefined : await this.#saved());
    const changed = sections.filter(({ rules }, at) => found !== undefined || String(before![at]!.rules) !== String(rules));
    const lines = changed.flatMap((section) => written(section, found));
    if (lines.length > 0) await output("iptables-restore", ["--noflush", "--wait", "5"], timeoutMs, [...lines, ""].join("\n"));
    this.#written = sections;
  }

  /** The kernel asks the rules only for the first packet of a flow, and a flow of UDP lasts as long as its client sends. */
  async #endFlows(ports: readonly ServicePort[], before: readonly ServicePort[] | undefined): Promise<void> {
    const known = new Set(before?.map((port) => JSON.stringify(port)));
    const changed = ports.filter((port) => port.protocol === "udp" && !known.has(JSON.stringify(port)));
    for (const { address, host, to } of changed)
      await this.#options.endFlows({ address, port: host, kept: to.map((one) => `${withoutPrefix(one.address)}:${one.port}`) });
  }

  #saved(): Promise<string> {
    return output("iptables-save", [], this.#options.timeoutMs);
  }

  /** One after the other, so that each sees what the one before has written. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
