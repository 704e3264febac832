/** Changes that a caller asks for. Each change is one transaction over the tasks and the host facts. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { taskSlice } from "../../cgroup/index.ts";
import type { HostCapacity, Instant, UserRange } from "../../model/index.ts";
import type { TaskSpec } from "../../spec/index.ts";
import type { ItemKind, Mailbox } from "../mailbox.ts";
import type { AttachedInterface, InterfaceChange } from "../resources/interface-state.ts";
import type { CgroupManager } from "../settings.ts";
import type { HostFacts } from "./codec.ts";
import { Commands } from "./commands.ts";
import type { Draft } from "./draft.ts";
import type { Caller } from "./journal.ts";

export interface EditsOptions {
  readonly capacity: HostCapacity;
  readonly users: UserRange;
  readonly cgroupParent: string;
  readonly cgroupManager: CgroupManager;
  /** Whether a group has kept volumes. */
  readonly hasVolumes: (group: string) => boolean;
  /** Whether a group has a kept volume of this name. */
  readonly isKept: (group: string, name: string) => boolean;
  /** Whether new tasks get a cgroup of their own. */
  readonly hasTaskLimits: boolean;
}

export class Edits {
  readonly #mailbox: Mailbox;
  readonly #options: EditsOptions;
  /** As the store has them, or as the first turn stores them. Only turns change them. */
  facts: HostFacts;
  #revision: number;

  constructor(mailbox: Mailbox, options: EditsOptions, facts: HostFacts) {
    this.#mailbox = mailbox;
    this.#options = options;
    this.facts = facts;
    this.#revision = facts.revision;
  }

  get hasVolumes(): EditsOptions["hasVolumes"] {
    return this.#options.hasVolumes;
  }

  get isKept(): EditsOptions["isKept"] {
    return this.#options.isKept;
  }

  /** The highest revision given to any task, also by a change of which nothing was stored: none is given twice. */
  get revision(): number {
    return this.#revision;
  }

  /** Makes sure that no revision up to this one is given to a new task. */
  revisionIsAtLeast(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /** Returns what `change` returns, after it was committed. @throws what `change` throws, and StoreError not-written; nothing is stored then */
  async make<T>(by: Caller | undefined, change: (commands: Commands) => T, kind: ItemKind = {}): Promise<T> {
    const { capacity, users, hasVolumes, isKept } = this.#options;
    let answer: T;
    await this.#mailbox.edit((draft) => {
      const commands = new Commands(
        draft,
        { capacity, users, hasVolumes, isKept, cgroupOf: (id, spec) => this.#cgroupOf(id, spec), by },
        this.#revision,
      );
      try {
        answer = change(commands);
      } finally {
        this.#revision = commands.revision;
      }
      if (draft.facts.revision !== this.#revision) draft.facts = { ...draft.facts, revision: this.#revision };
    }, kind);
    return answer!;
  }

  /** Changes records of pools. @throws what `change` throws, and StoreError not-written */
  async changePools(change: (draft: Draft) => void): Promise<void> {
    await this.#mailbox.edit(change);
  }

  /** Changes the interfaces that others provide. @throws what `change` throws, and StoreError not-written */
  async changeInterfaces(
    change: (all: readonly AttachedInterface[], now: Instant) => InterfaceChange,
    by: Caller | undefined,
  ): Promise<void> {
    await this.#mailbox.edit((draft) => {
      const { interfaces, told } = change(draft.facts.interfaces ?? [], draft.at);
      if (told.length === 0) return;
      for (const { interface: one, state } of told)
        draft.tell({ type: "interface", interface: one.name, state, task: one.task, ...(by === undefined ? {} : { by }) });
      draft.facts = { ...draft.facts, interfaces };
    });
  }

  /** A task that names a cgroup above its own has no slice (plan/refused.ts). */
  #cgroupOf(id: string, { cgroupParent: above }: TaskSpec): string | null {
    const { hasTaskLimits, cgroupParent, cgroupManager } = this.#options;
    const name = `${id}-${randomBytes(6).toString("hex")}`;
    if (!hasTaskLimits) return null;
    if (above !== undefined) return join(above.startsWith("/") ? above : join(cgroupParent, "parents", above), name);
    return cgroupManager === "systemd" ? taskSlice(cgroupParent, name) : join(cgroupParent, name);
  }
}
