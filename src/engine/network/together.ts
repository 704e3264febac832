/**
 * Changes that one program makes for all who ask. The kernel takes its time for each transaction of a table and makes them one after the other, and to start a program takes longer than its
 * work; so those that are asked for at once, or while one is under way, are made together.
 */
import { setImmediate } from "node:timers/promises";

interface Change {
  readonly lines: readonly string[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class Together {
  readonly #make: (lines: readonly string[]) => Promise<unknown>;
  #waiting: Change[] = [];
  #isBusy = false;

  /** @param make runs the program */
  constructor(make: (lines: readonly string[]) => Promise<unknown>) {
    this.#make = make;
  }

  /** @throws what the program of these lines alone has failed with */
  change(lines: readonly string[]): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ lines, done, failed });
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    // Tasks that are deleted together ask one after the other, all in one turn of the engine.
    await setImmediate();
    for (let changes = this.#waiting; changes.length > 0; changes = this.#waiting) {
      this.#waiting = [];
      await this.#together(changes);
    }
    this.#isBusy = false;
  }

  async #together(changes: readonly Change[]): Promise<void> {
    try {
      await this.#make(changes.flatMap(({ lines }) => lines));
      for (const { done } of changes) done();
    } catch (error) {
      if (changes.length === 1) return changes[0]!.failed(error);
      // One that cannot be made must not keep the others from theirs.
      for (const change of changes) await this.#together([change]);
    }
  }
}
