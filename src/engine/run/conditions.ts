/** Problems that concern the whole engine, not one task. `runtctl node` shows them. */
import type { TaskRecord } from "../model/index.ts";
import type { StoreError } from "../store/index.ts";
import type { EngineLog } from "./log.ts";
import type { NodeView } from "./settings.ts";
import { type LeftView, notRemovedIn, notStoppedIn } from "./view.ts";

type Condition = NodeView["conditions"][number];

export class Conditions {
  readonly #present = new Map<Condition["type"], string>();
  readonly #log: EngineLog;

  constructor(log: EngineLog) {
    this.#log = log;
  }

  /** Reports a problem; an empty message clears it. */
  set(type: Condition["type"], message: string): void {
    if (message === "") this.#present.delete(type);
    else this.#present.set(type, message);
  }

  /** Reports that the store cannot be written; undefined: it can be written again. */
  store(error: StoreError | undefined): void {
    this.set("StoreReadOnly", error?.message ?? "");
    if (error === undefined) this.#log("info", "store-writable");
    else this.#log("error", "store-read-only", { message: error.message });
  }

  all(): Condition[] {
    return [...this.#present].map(([type, message]) => ({ type, message }));
  }
}

/** Conditions that follow from the records: capacity that is taken and that the host lacks, and what could not be stopped or removed yet. */
export function derivedConditions(records: readonly TaskRecord[], overcommitted: string): NodeView["conditions"] {
  const told = (inRecord: (record: TaskRecord) => readonly LeftView[]) =>
    records.flatMap((record) => inRecord(record).map(({ of, message }) => `${of} of ${record.id}: ${message}`)).join("; ");
  const conditions = [
    { type: "Overcommitted", message: overcommitted },
    { type: "NotStopped", message: told(notStoppedIn) },
    { type: "NotRemoved", message: told(notRemovedIn) },
  ] as const;
  return conditions.filter(({ message }) => message !== "");
}
