/** Performs the actions that a turn has decided. The result of each action is posted as an event of its task. */

import type { TaskRecord } from "../model/index.ts";
import type { Conditions } from "./conditions.ts";
import type { ContainerEnds } from "./containers/ends.ts";
import type { Order } from "./desired/draft.ts";
import type { Effects } from "./effects.ts";
import { Limit } from "./limit.ts";
import type { EngineLog } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Probe } from "./probe.ts";
import { forgetTask, type TaskResource } from "./resources/resource.ts";

/** Starting a container runs several processes, so that only a few start at once. */
const STARTS_AT_ONCE = 8;
/** What is removed at once is unmounted by one process. */
const REMOVALS_AT_ONCE = 64;

export interface CarryingOutOptions {
  readonly resources: readonly TaskResource[];
  readonly mailbox: Mailbox;
  readonly effects: Effects;
  readonly ends: ContainerEnds;
  readonly conditions: Conditions;
  readonly log: EngineLog;
  readonly probe: Probe | undefined;
}

export class CarryingOut {
  readonly #options: CarryingOutOptions;
  readonly #forgetting: Forgetting;
  readonly #starts = new Limit(STARTS_AT_ONCE);
  readonly #removals = new Limit(REMOVALS_AT_ONCE);
  readonly #ofResources: readonly { readonly resource: TaskResource; readonly make: Limit; readonly unmake: Limit }[];

  constructor(options: CarryingOutOptions) {
    this.#options = options;
    this.#forgetting = new Forgetting(options);
    this.#ofResources = options.resources.flatMap((resource) => {
      const { atOnce } = resource;
      return atOnce === undefined ? [] : [{ resource, make: new Limit(atOnce.make), unmake: new Limit(atOnce.unmake) }];
    });
  }

  /** Starts the action and returns at once. */
  begin({ record, action }: Order): void {
    const { mailbox, effects, ends, log, probe } = this.#options;
    if (action.type === "forget") {
      this.#forgetting.begin(record);
      return;
    }
    const perform = () => effects.perform(action, record);
    const begin = () => this.#limitOf(action)?.run(perform) ?? perform();
    const result = effects.waitsFor(action, record)?.then(begin, (error) => effects.refused(action, error)) ?? begin();
    void result.then((happening) => {
      probe?.("after-effect", action.type);
      mailbox.post(record.id, happening, action.type);
      if (happening.type === "resource" && happening.error !== undefined) {
        const { name: resource, target, error } = happening;
        log("error", "resource-failed", { task: record.id, resource, target, message: error.message });
      }
      if (happening.type === "removed" && happening.error !== undefined) {
        log("error", "remove-failed", { task: record.id, container: happening.container, message: happening.error.message });
      }
      if (happening.type === "preStopped" && happening.error !== undefined) {
        log("error", "pre-stop-failed", { task: record.id, container: happening.container, message: happening.error });
      }
      if (action.type === "start" && happening.type === "result" && happening.error === undefined) ends.follow(action.runtimeId);
    });
  }

  #limitOf(action: Order["action"]): Limit | undefined {
    if (action.type === "start") return this.#starts;
    if (action.type === "remove") return this.#removals;
    if (action.type !== "createResource" && action.type !== "removeResource") return undefined;
    const limits = this.#ofResources.find(({ resource }) => resource.owns?.(action.name));
    return action.type === "createResource" ? limits?.make : limits?.unmake;
  }
}

/** Removes the files and the record of a task after everything else of it is gone. */
const RETRY_MS = 5_000;

interface ForgettingOptions {
  readonly resources: readonly TaskResource[];
  readonly mailbox: Mailbox;
  readonly conditions: Conditions;
  readonly log: EngineLog;
  readonly probe: Probe | undefined;
}

class Forgetting {
  readonly #options: ForgettingOptions;
  readonly #going = new Set<string>();

  constructor(options: ForgettingOptions) {
    this.#options = options;
  }

  /** Every event of the task asks for this again until the record is removed. */
  begin(record: TaskRecord): void {
    if (!this.#going.has(record.id)) void this.#forget(record);
  }

  /** The files are removed before the record: after a crash between the two steps the record still names what is left. */
  async #forget(record: TaskRecord): Promise<void> {
    const { id } = record;
    const { resources, mailbox, conditions, log, probe } = this.#options;
    this.#going.add(id);
    try {
      await forgetTask(resources, id, record);
      conditions.notForgotten(id, "");
    } catch (error) {
      log("error", "not-removed", { task: id, message: String(error) });
      conditions.notForgotten(id, (error as Error).message);
      this.#again(record);
      return;
    }
    probe?.("after-effect", "forget");
    const removed = mailbox.edit((draft) => draft.remove(id), { of: "forget" });
    removed.then(
      () => this.#going.delete(id),
      // The engine already reports that the store cannot be written, as the condition StoreReadOnly.
      () => this.#again(record),
    );
  }

  #again(record: TaskRecord): void {
    setTimeout(() => void this.#forget(record), RETRY_MS).unref();
  }
}
