/** Changes that a caller asks for. Each change is one transaction over the tasks and the host facts. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { taskSlice } from "../../cgroup/index.ts";
import type { HostCapacity, Instant, UserRange } from "../../model/index.ts";
import type { TaskSpec } from "../../spec/index.ts";
import { StoreError } from "../../store/index.ts";
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
  #facts: HostFacts;

  constructor(mailbox: Mailbox, options: EditsOptions, facts: HostFacts) {
    this.#mailbox = mailbox;
    this.#options = options;
    this.#facts = facts;
  }

  get hasVolumes(): EditsOptions["hasVolumes"] {
    return this.#options.hasVolumes;
  }

  get isKept(): EditsOptions["isKept"] {
    return this.#options.isKept;
  }

  get facts(): HostFacts {
    return this.#facts;
  }

  /** Makes sure that no revision up to this one is given to a new task. */
  revisionIsAtLeast(revision: number): void {
    this.#facts = { ...this.#facts, revision: Math.max(this.#facts.revision, revision) };
  }

  /** Returns what `change` returns, after it was committed. @throws what `change` throws, and StoreError not-written */
  async make<T>(by: Caller | undefined, change: (commands: Commands) => T, kind: ItemKind = {}): Promise<T> {
    const { capacity, users, hasVolumes, isKept } = this.#options;
    const { projects = {}, watched = {} } = this.#facts;
    let answer: T;
    await this.#mailbox.edit((draft) => {
      const commands = new Commands(
        draft,
        { capacity, users, projects, watched, hasVolumes, isKept, cgroupOf: (id, spec) => this.#cgroupOf(id, spec), by },
        this.#facts.revision,
      );
      answer = change(commands);
      if (commands.revision === this.#facts.revision && commands.projects === projects && commands.watched === watched) return undefined;
      // A revision that was given out is not reused, even if the transaction fails.
      this.#facts = { ...this.#facts, revision: commands.revision, projects: commands.projects, watched: commands.watched };
      return this.#facts;
    }, kind);
    return answer!;
  }

  /** Changes records of pools. @throws what `change` throws, and StoreError not-written */
  async changePools(change: (draft: Draft) => void): Promise<void> {
    await this.#mailbox.edit((draft) => {
      change(draft);
      return undefined;
    });
  }

  /** Changes the interfaces that others provide. @throws what `change` throws, and StoreError not-written */
  async changeInterfaces(
    change: (all: readonly AttachedInterface[], now: Instant) => InterfaceChange,
    by: Caller | undefined,
  ): Promise<void> {
    const before = this.#facts.interfaces ?? [];
    try {
      await this.#mailbox.edit((draft) => {
        const { interfaces, told } = change(this.#facts.interfaces ?? [], draft.at);
        if (told.length === 0) return undefined;
        for (const { interface: one, state } of told)
          draft.tell({ type: "interface", interface: one.name, state, task: one.task, ...(by === undefined ? {} : { by }) });
        this.#facts = { ...this.#facts, interfaces };
        return this.#facts;
      });
    } catch (error) {
      if (error instanceof StoreError) this.#facts = { ...this.#facts, interfaces: before };
      throw error;
    }
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
