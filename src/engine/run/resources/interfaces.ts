/**
 * Interfaces of the host that somebody else provides for a task (`association: attached`): a virtual function, or the end of a tunnel. Each is announced with a
 * deadline. One that no task has taken by then is forgotten, so that an interface that comes late is not given to anybody.
 */
import { after, type Instant, type TaskRecord } from "../../model/index.ts";
import { Alarm, systemClock } from "../clock.ts";
import type { Edits } from "../desired/edits.ts";
import type { Caller } from "../desired/journal.ts";
import { EngineError } from "../errors.ts";
import { type AttachedInterface, type InterfaceChange, type InterfaceView, interfaceViewOf, withoutExpired } from "./interface-state.ts";
import type { TaskResource } from "./resource.ts";

export interface InterfacesOptions {
  readonly edits: Edits;
  readonly records: ReadonlyMap<string, TaskRecord>;
}

export class Interfaces implements TaskResource {
  readonly name = "interfaces";
  readonly #options: InterfacesOptions;
  readonly #alarm: Alarm;

  constructor(options: InterfacesOptions) {
    this.#options = options;
    // If the store cannot be written, the next change drops it.
    this.#alarm = new Alarm(() => void this.#change((all, now) => withoutExpired(all, now)).catch(() => {}));
  }

  views(): readonly InterfaceView[] {
    const now = systemClock.now();
    return this.#all.map((one) => interfaceViewOf(one, now));
  }

  /** Announces an interface, or moves the deadline of one that no task has taken. @throws EngineError interface-in-use; StoreError not-written */
  async attach(name: string, forMs: number, by?: Caller): Promise<InterfaceView> {
    let attached: AttachedInterface | undefined;
    await this.#change((all, now) => {
      const old = all.find((one) => one.name === name);
      if (old !== undefined && old.task !== null) throw inUse(old);
      attached = { name, deadline: after(now, forMs), attachedWallMs: now.wallMs, task: null };
      return { interfaces: [...all.filter((one) => one !== old), attached], told: [{ interface: attached, state: "pending" }] };
    }, by);
    return interfaceViewOf(attached!, systemClock.now());
  }

  /** Takes the announcement back. @throws EngineError unknown-interface, interface-in-use; StoreError not-written */
  async detach(name: string, by?: Caller): Promise<void> {
    await this.#change((all) => {
      const old = all.find((one) => one.name === name);
      if (old === undefined) throw new EngineError("unknown-interface", `the interface ${name} is not attached`, { name });
      if (old.task !== null) throw inUse(old);
      return { interfaces: all.filter((one) => one !== old), told: [{ interface: old, state: "detached" }] };
    }, by);
  }

  /** Gives a task those that it names. May be repeated. @throws Error: one is not attached, or another task has it; StoreError not-written */
  async take({ id, spec }: TaskRecord): Promise<void> {
    const names = attachedIn(spec);
    if (names.length === 0) return;
    await this.#change((all, now) => {
      const taken = names.map((name): AttachedInterface => {
        const found = withoutExpired(all, now).interfaces.find((one) => one.name === name);
        if (found === undefined) throw new Error(`the interface ${name} was not announced, or no task took it in time`);
        if (found.task !== null && found.task !== id) throw inUse(found);
        return { ...found, task: id };
      });
      const isNew = (one: AttachedInterface) => all.some(({ name, task }) => name === one.name && task === null);
      return {
        interfaces: [...all.filter((one) => !names.includes(one.name)), ...taken],
        told: taken.filter(isNew).map((one) => ({ interface: one, state: "used" })),
      };
    });
  }

  /** Forgets those of a task whose network was given back. @throws StoreError not-written */
  async giveBack(task: string): Promise<void> {
    if (this.#all.some((one) => one.task === task)) await this.#change((all, now) => withoutExpired(all, now, (id) => id !== task));
  }

  /** Drops what has expired while no daemon was there. */
  restored(): void {
    const known = this.#options.records;
    void this.#change((all, now) => withoutExpired(all, now, (id) => known.has(id))).catch(() => {});
    this.#arm();
  }

  stop(): void {
    this.#alarm.set(undefined);
  }

  get #all(): readonly AttachedInterface[] {
    return this.#options.edits.facts.interfaces ?? [];
  }

  async #change(change: (all: readonly AttachedInterface[], now: Instant) => InterfaceChange, by?: Caller): Promise<void> {
    await this.#options.edits.changeInterfaces(change, by);
    this.#arm();
  }

  #arm(): void {
    const { bootMs } = systemClock.now();
    const due = this.#all.flatMap(({ task, deadline }) => (task === null ? [deadline.bootMs] : []));
    this.#alarm.set(due.length === 0 ? undefined : Math.min(...due) - bootMs);
  }
}

function attachedIn({ network }: TaskRecord["spec"]): string[] {
  return (network?.interfaces ?? []).flatMap(({ association, parent }) => (association === "attached" ? [parent] : []));
}

function inUse({ name, task }: AttachedInterface): EngineError {
  return new EngineError("interface-in-use", `the interface ${name} is used by task ${task}`, { name, task });
}
