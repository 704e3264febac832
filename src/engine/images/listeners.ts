/** Shares the progress of one pull. */
import type { PullRequest } from "./port.ts";

type Listener = Pick<PullRequest, "onProgress" | "onUnpack">;

/** The callers that wait for one pull. Each is told the progress. */
export class Listeners {
  readonly #all = new Set<Listener>();
  #isUnpacking = false;

  add(one: Listener): void {
    this.#all.add(one);
    if (this.#isUnpacking) one.onUnpack?.();
  }

  /** Returns the number of remaining callers. */
  delete(one: Listener): number {
    this.#all.delete(one);
    return this.#all.size;
  }

  get all(): Required<Listener> {
    return {
      onProgress: (progress) => {
        for (const { onProgress } of this.#all) onProgress?.(progress);
      },
      onUnpack: () => {
        this.#isUnpacking = true;
        for (const { onUnpack } of this.#all) onUnpack?.();
      },
    };
  }
}
