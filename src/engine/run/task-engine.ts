/** An engine that is not open yet. */
import { ExecutorError } from "../../executor/index.ts";
import { Engine } from "./engine.ts";
import { type Retry, untilDone } from "./retry.ts";
import type { EngineSettings } from "./settings.ts";

const WAITS = { firstMs: 2_000, longestMs: 200_000, factor: 1.5, jitter: 0.2 };

export class TaskEngine {
  readonly #settings: EngineSettings;
  readonly #wait: Retry["wait"];
  #opening: Promise<Engine> | undefined;
  #state: "new" | "opening" | "open" = "new";

  /**
   * Keeps the settings, and does nothing else: no file, no process, no timer.
   * @param wait for tests: how to let this many milliseconds pass
   */
  constructor(settings: EngineSettings, wait?: Retry["wait"]) {
    this.#settings = settings;
    this.#wait = wait;
  }

  /**
   * Open it (Engine.open). All callers get the same engine. A program runt that is not there, or is of another version while packages are being exchanged, is waited
   * for: the first failure is logged. @throws StoreError in-use, not-ours, newer-schema, unreadable; the next call tries again
   */
  init(): Promise<Engine> {
    if (this.#opening === undefined) {
      this.#state = "opening";
      this.#opening = this.#open();
    }
    return this.#opening;
  }

  /** What it was made with, and how far it is. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { log, ...settings } = this.#settings;
    return { state: this.#state, ...settings };
  }

  async #open(): Promise<Engine> {
    try {
      const engine = await untilDone(() => Engine.open(this.#settings), {
        waits: WAITS,
        mayPass: isOfRuntime,
        failed: (error) => {
          const { code, message } = error as ExecutorError;
          this.#settings.log?.("error", "waiting-for-runtime", { code, message });
        },
        ...(this.#wait === undefined ? {} : { wait: this.#wait }),
      });
      this.#state = "open";
      return engine;
    } catch (error) {
      this.#state = "new";
      this.#opening = undefined;
      throw error;
    }
  }
}

function isOfRuntime(error: unknown): boolean {
  return error instanceof ExecutorError && (error.code === "runtime-not-found" || error.code === "runtime-version");
}
