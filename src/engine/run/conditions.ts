/** Problems that concern the whole engine, not one task. `runtctl node` shows them. */
import type { TaskRecord } from "../model/index.ts";
import type { StoreError } from "../store/index.ts";
import type { EngineLog } from "./log.ts";
import type { NodeView } from "./settings.ts";
import { type LeftView, notRemovedIn, notStoppedIn } from "./view.ts";

type Condition = NodeView["conditions"][number];

export class Conditions {
  readonly #present = new Map<Condition["type"], string>();
  /** Why files of a task that is gone otherwise are still there, by its id. */
  readonly #notForgotten = new Map<string, string>();
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

  /** A task whose files could not be removed yet; an empty message: they are. */
  notForgotten(task: string, message: string): void {
    if (message === "") this.#notForgotten.delete(task);
    else this.#notForgotten.set(task, message);
  }

  /** With those that follow from the records. */
  all(records: readonly TaskRecord[], overcommitted: string): Condition[] {
    const present = [...this.#present].map(([type, message]) => ({ type, message }));
    return [...present, ...derivedConditions(records, overcommitted, this.#notForgotten)];
  }
}

/** Conditions that follow from the records: capacity that is taken and that the host lacks, and what could not be stopped or removed yet. */
function derivedConditions(
  records: readonly TaskRecord[],
  overcommitted: string,
  notForgotten: ReadonlyMap<string, string>,
): NodeView["conditions"] {
  const told = (inRecord: (record: TaskRecord) => readonly LeftView[]) =>
    records.flatMap((record) => inRecord(record).map(({ of, message }) => `${of} of ${record.id}: ${message}`));
  const files = [...notForgotten].map(([task, message]) => `files of ${task}: ${message}`);
  const conditions = [
    { type: "Overcommitted", message: overcommitted },
    { type: "NotStopped", message: told(notStoppedIn).join("; ") },
    { type: "NotRemoved", message: [...told(notRemovedIn), ...files].join("; ") },
  ] as const;
  return conditions.filter(({ message }) => message !== "");
}
