/** Callers that wait for a container, in the order in which they came. */
import { aborted } from "../errors.ts";

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export class Waiters<T> {
  #all: Waiter<T>[] = [];
  /** Callers that have had to wait since the beginning. */
  count = 0;

  get length(): number {
    return this.#all.length;
  }

  /** Waits until `serve` or `rejectAll` is called for it. @throws ExecutorError aborted */
  wait(signal: AbortSignal | undefined): Promise<T> {
    this.count++;
    return new Promise<T>((resolve, reject) => {
      const leave = () => signal?.removeEventListener("abort", abort);
      const waiter: Waiter<T> = {
        resolve: (value) => {
          leave();
          resolve(value);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = () => {
        this.#all = this.#all.filter((other) => other !== waiter);
        reject(aborted("the wait for a box", signal!));
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#all.push(waiter);
    });
  }

  /** Gives the value to the caller that has waited longest. There has to be one. */
  serve(value: T): void {
    this.#all.shift()!.resolve(value);
  }

  rejectAll(error: unknown): void {
    for (const { reject } of this.#all.splice(0)) reject(error);
  }
}
