/** The state of an executor: which state may follow which, and the event for each change. */
import type { Look } from "./container.ts";
import { ExecutorError } from "./errors.ts";
import type { ExecutorOptions, ExecutorState } from "./types.ts";

export class Lifecycle {
  readonly #options: Pick<ExecutorOptions, "id" | "onEvent">;
  #state: ExecutorState = "idle";

  constructor(options: Pick<ExecutorOptions, "id" | "onEvent">) {
    this.#options = options;
  }

  get state(): ExecutorState {
    return this.#state;
  }

  enter(state: ExecutorState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.tell(state);
  }

  /** Pausing is told, but it is no state of its own: the kernel is asked for it. */
  tell(state: ExecutorState): void {
    this.#options.onEvent?.({ type: "state", id: this.#options.id, state });
  }

  /** A state of shutdown. A second caller of it does not take back what the first one has entered. */
  shutDown(state: ExecutorState): void {
    if (state !== "terminating" || this.#state === "running") this.enter(state);
  }

  /** What a look at the container has shown. */
  see({ now }: Look): void {
    if (now === "running" && this.#state === "created") this.enter("running");
    if (now === "exited") this.enter("exited");
    // What shutdown has entered says more.
    if (now === "stuck" || (now === "draining" && this.#state !== "killing" && this.#state !== "stuck")) this.enter(now);
  }

  /** @throws ExecutorError wrong-state */
  mustBe(wanted: string, ...states: readonly ExecutorState[]): void {
    if (!states.includes(this.#state)) throw this.wrong(`, not ${wanted}`);
  }

  wrong(why = ""): ExecutorError {
    return new ExecutorError("wrong-state", `executor ${this.#options.id} is ${this.#state}${why}`);
  }
}
