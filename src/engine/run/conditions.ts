/** Problems of the engine as a whole, which `runtctl node` shows. */
import type { StoreError } from "../store/index.ts";
import type { EngineLog } from "./log.ts";
import type { NodeView } from "./settings.ts";

type Condition = NodeView["conditions"][number];

export class Conditions {
  readonly #present = new Map<Condition["type"], string>();
  readonly #log: EngineLog;

  constructor(log: EngineLog) {
    this.#log = log;
  }

  /** An empty message says that all is well. */
  set(type: Condition["type"], message: string): void {
    if (message === "") this.#present.delete(type);
    else this.#present.set(type, message);
  }

  /** The store cannot be written, or can be again (undefined). */
  store(error: StoreError | undefined): void {
    this.set("StoreReadOnly", error?.message ?? "");
    if (error === undefined) this.#log("info", "store-writable");
    else this.#log("error", "store-read-only", { message: error.message });
  }

  all(): Condition[] {
    return [...this.#present].map(([type, message]) => ({ type, message }));
  }
}
