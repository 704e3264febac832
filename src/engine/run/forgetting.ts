/** Removes the files and the record of a task after everything else of it is gone. */
import type { TaskRecord } from "../model/index.ts";
import type { Effects } from "./effects.ts";
import type { EngineLog } from "./log.ts";
import type { Probe } from "./probe.ts";
import type { Turns } from "./turn.ts";

const RETRY_MS = 5_000;

export class Forgetting {
  readonly #turns: () => Turns;
  readonly #effects: Effects;
  readonly #log: EngineLog;
  readonly #probe: Probe | undefined;
  readonly #going = new Set<string>();

  constructor(turns: () => Turns, effects: Effects, { log, probe }: { readonly log: EngineLog; readonly probe: Probe | undefined }) {
    this.#turns = turns;
    this.#effects = effects;
    this.#log = log;
    this.#probe = probe;
  }

  /** Every event of the task asks for this again until the record is removed. */
  begin(record: TaskRecord): void {
    if (!this.#going.has(record.id)) void this.#forget(record);
  }

  /** The files are removed before the record: after a crash between the two steps the record still names what is left. */
  async #forget(record: TaskRecord): Promise<void> {
    const { id } = record;
    this.#going.add(id);
    try {
      this.#effects.forget(record);
      await this.#effects.releaseShared(record);
    } catch (error) {
      this.#log("error", "not-removed", { task: id, message: String(error) });
      this.#again(record);
      return;
    }
    this.#probe?.("after-effect", "forget");
    const removed = this.#turns().edit(
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
