/** Removes the files and the record of a task after everything else of it is gone. */
import type { TaskRecord } from "../model/index.ts";
import type { EngineLog } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Probe } from "./probe.ts";
import { forgetTask, type TaskResource } from "./resources/resource.ts";

const RETRY_MS = 5_000;

export interface ForgettingOptions {
  readonly resources: readonly TaskResource[];
  readonly mailbox: Mailbox;
  readonly log: EngineLog;
  readonly probe: Probe | undefined;
}

export class Forgetting {
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
    const { resources, mailbox, log, probe } = this.#options;
    this.#going.add(id);
    try {
      await forgetTask(resources, id, record);
    } catch (error) {
      log("error", "not-removed", { task: id, message: String(error) });
      this.#again(record);
      return;
    }
    probe?.("after-effect", "forget");
    const removed = mailbox.edit(
      (draft) => {
        draft.remove(id);
        return undefined;
      },
      { of: "forget" },
    );
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
