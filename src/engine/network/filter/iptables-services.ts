/** Keeps the rules of the host for ports that belong to services. They are of the whole engine, so that one program writes them for all tasks. */
import { output } from "../command.ts";
import type { ServicePort } from "./filter.ts";
import { savedRules } from "./iptables-saved.ts";
import { isWhole, type Section, sectionsOf, tasksIn, written } from "./iptables-service-rules.ts";

export interface IptablesServicesOptions {
  /** Of this engine, 8 characters. */
  readonly key: string;
  readonly timeoutMs: number;
}

export class IptablesServices {
  readonly #options: IptablesServicesOptions;
  /** What is to be there; undefined: nothing was asked for yet, and an earlier process may have written some. */
  #ports: readonly ServicePort[] | undefined;
  /** What this process has written last. */
  #written: readonly Section[] | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: IptablesServicesOptions) {
    this.#options = options;
  }

  /** Takes the place of what was there: of the packets that lead to tasks, in one transaction. @throws NetworkError program-missing, program-failed */
  set(ports: readonly ServicePort[]): Promise<void> {
    this.#ports = ports;
    return this.#inTurn(async () => this.#write(ports, this.#written === undefined ? await this.#saved() : undefined));
  }

  /** Whether a service has a port. */
  get hasPorts(): boolean {
    return (this.#ports ?? []).length > 0;
  }

  /** Writes them again if another program has changed some. Returns whether it had to. @param saved of iptables-save(8) @throws as `set` */
  look(saved: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const ports = this.#ports;
      // What was written since then is not in that text.
      const sections = this.#written;
      if (ports === undefined || ports.length === 0 || sections === undefined) return false;
      if (sections.every((section) => isWhole(section, saved))) return false;
      const now = await this.#saved();
      if (sections.every((section) => isWhole(section, now))) return false;
      this.#written = undefined;
      await this.#write(ports, now);
      return true;
    });
  }

  /** Removes what an earlier process has left, if no task that is known has a part in it. Returns whether some stays. @throws NetworkError program-missing, program-failed */
  tidy(isKnown: (id: string) => boolean): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#ports !== undefined) return this.#ports.length > 0;
      const saved = await this.#saved();
      const isUsed = tasksIn(saved, this.#options.key).some(isKnown);
      if (!isUsed) await this.#write([], saved);
      this.#written = undefined;
      return isUsed;
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

  #saved(): Promise<string> {
    return savedRules(this.#options.timeoutMs);
  }

  /** One after the other, so that each sees what the one before has written. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
