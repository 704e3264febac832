/** An engine that is opened on first use. */

import { setTimeout as sleep } from "node:timers/promises";
import { ExecutorError } from "../../executor/index.ts";
import { Engine } from "./engine.ts";
import type { EngineSettings } from "./settings.ts";

const WAITS = { firstMs: 2_000, longestMs: 200_000, factor: 1.5, jitter: 0.2 };

export class TaskEngine {
  readonly #settings: EngineSettings;
  readonly #wait: Retry["wait"];
  #opening: Promise<Engine> | undefined;
  #state: "new" | "opening" | "open" = "new";

  /**
   * Only keeps the settings: makes no file, process or timer.
   * @param wait for tests: waits this many milliseconds
   */
  constructor(settings: EngineSettings, wait?: Retry["wait"]) {
    this.#settings = settings;
    this.#wait = wait;
  }

  /**
   * Opens the engine (Engine.open). All callers get the same engine. If runt is missing or of another version, as while packages are upgraded, this waits until it
   * is there; the first failure is logged. @throws StoreError in-use, moved, not-ours, newer-schema, unreadable; the next call tries again
   */
  init(): Promise<Engine> {
    if (this.#opening === undefined) {
      this.#state = "opening";
      this.#opening = this.#open();
    }
    return this.#opening;
  }

  /** The settings, and whether the engine is open. */
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

/** Retries an action with growing delays until it succeeds. */
interface Waits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Factor between one delay and the next. */
  readonly factor: number;
  /** A random part is added to each delay, at most this fraction of it, so that many retries do not come at the same moment. */
  readonly jitter: number;
}

interface Retry {
  readonly waits: Waits;
  /** Whether a retry may succeed. Other errors are thrown. */
  readonly mayPass: (error: unknown) => boolean;
  /** Called with the first failure only, because later ones repeat it. */
  readonly failed: (error: unknown) => void;
  /** Waits this many milliseconds; tests replace it. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

export async function untilDone<T>(action: () => Promise<T>, { waits, mayPass, failed, wait = sleep }: Retry): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await action();
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (failures === 0) failed(error);
    }
    await wait(waitMs(failures, waits, Math.random()));
  }
}

/** Milliseconds to wait after this many failures. @param share random part of the jitter, from 0 to 1 */
export function waitMs(failures: number, { firstMs, longestMs, factor, jitter }: Waits, share: number): number {
  return Math.min(firstMs * factor ** failures, longestMs) * (1 + jitter * share);
}
