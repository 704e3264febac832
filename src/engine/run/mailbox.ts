/** What waits for the next turn of the engine: events of tasks, and changes that callers ask for. */
import type { ActionType, TaskEvent } from "../model/index.ts";
import type { Draft } from "./desired/draft.ts";

type WithoutTime<T> = T extends unknown ? Omit<T, "at"> : never;
/** An event that gets its time from the turn in which it is applied. */
export type Happening = WithoutTime<TaskEvent>;

/** A change of the draft of a turn. If it throws, nothing of it remains there, and the other changes of the turn go on. */
export type Edit = (draft: Draft) => void;

export interface ItemKind {
  /** The item only stops containers, which may be repeated. It may be carried out even if it cannot be stored. */
  readonly isStop?: boolean;
  /** The action of which the item is the result. */
  readonly of?: ActionType;
}

export interface Item extends ItemKind {
  readonly step: Edit;
  readonly resolve?: () => void;
  readonly reject?: (error: unknown) => void;
}

export class Mailbox {
  #items: Item[] = [];
  #hasNews = false;
  #heard: (() => void) | undefined;

  /** An event of a task; that of a task that no longer exists is dropped. `of`: the action of which it is the result. */
  post(task: string, happening: Happening, of?: ActionType): void {
    this.put({
      ...(of === undefined ? {} : { of }),
      step: (draft) => void draft.apply(task, { ...happening, at: draft.at }),
    });
  }

  /**
   * Resolves when the change is stored. A stop also resolves when the store cannot be written: its containers are stopped at once, and the change is stored later.
   * @throws what `step` throws, and StoreError not-written; nothing is stored then
   */
  edit(step: Edit, kind: ItemKind = {}): Promise<void> {
    return new Promise((resolve, reject) => this.put({ ...kind, step, resolve, reject }));
  }

  put(item: Item): void {
    this.#items.push(item);
    this.wake();
  }

  /** All that is there, in order. */
  take(): Item[] {
    const items = this.#items;
    this.#items = [];
    this.#hasNews = false;
    return items;
  }

  /** What could not be stored comes before what has come since. Nobody is woken for it. */
  putBack(items: readonly Item[]): void {
    this.#items.unshift(...items);
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Resolves when something has been put since the last `take`, or `wake` was called. One caller waits at a time. */
  async news(): Promise<void> {
    if (this.#hasNews) return;
    await new Promise<void>((resolve) => {
      this.#heard = resolve;
    });
  }

  /** There is something to do although nothing has come. */
  wake(): void {
    this.#hasNews = true;
    this.#heard?.();
  }
}
