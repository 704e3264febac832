/** Keeps what the host has as it is asked for, by changes that take time and may fail. */

interface Entry<Asked> {
  readonly asked: Asked;
  /** failed: it is tried again. */
  state: "pending" | "set" | "failed";
  failures: number;
}

export interface UpkeepOptions<Asked> {
  readonly isSame: (a: Asked, b: Asked) => boolean;
  readonly set: (key: string, asked: Asked) => Promise<void>;
  readonly onSet?: (key: string, asked: Asked) => void;
  /** Called for the first failure of what is asked for. */
  readonly onFailed: (key: string, error: unknown) => void;
  /** After the first failure; absent: a second. After each further one it is twice as long, up to a minute. */
  readonly retryMs?: number;
}

const RETRY_MS = 1_000;
const MOST_RETRY_MS = 60_000;

export class Upkeep<Asked> {
  readonly #options: UpkeepOptions<Asked>;
  readonly #entries = new Map<string, Entry<Asked>>();
  /** Changes of one key are made one after the other, so that an old one never takes the place of a newer one. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(options: UpkeepOptions<Asked>) {
    this.#options = options;
  }

  /** Returns at once. Nothing happens if the same was asked for before. */
  ask(key: string, asked: Asked): void {
    const before = this.#entries.get(key);
    if (before === undefined || !this.#options.isSame(before.asked, asked)) this.#begin(key, { asked, state: "pending", failures: 0 });
  }

  /** What is asked for; undefined: nothing was, or it is forgotten. */
  of(key: string): Readonly<Entry<Asked>> | undefined {
    return this.#entries.get(key);
  }

  /** What other keys have is no longer kept. It stays as it is. */
  retain(isKept: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (!isKept(key)) this.#entries.delete(key);
  }

  /** Resolves when all changes that were asked for are made, or have failed. @param isMeant chooses the keys; default: all */
  async settled(isMeant: (key: string) => boolean = () => true): Promise<void> {
    await Promise.all([...this.#turns].flatMap(([key, turn]) => (isMeant(key) ? [turn] : [])));
  }

  #begin(key: string, entry: Entry<Asked>): void {
    this.#entries.set(key, entry);
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(() => this.#set(key, entry));
    this.#turns.set(key, turn);
    void turn.then(() => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    });
  }

  async #set(key: string, entry: Entry<Asked>): Promise<void> {
    const isAsked = () => this.#entries.get(key) === entry;
    if (!isAsked()) return;
    const { set, onSet, onFailed, retryMs = RETRY_MS } = this.#options;
    try {
      await set(key, entry.asked);
    } catch (error) {
      // What nobody asks for any more, as for a task that was removed meanwhile, may fail.
      if (!isAsked()) return;
      if (entry.state === "pending") onFailed(key, error);
      entry.state = "failed";
      const waitMs = Math.min(MOST_RETRY_MS, retryMs * 2 ** entry.failures++);
      setTimeout(() => isAsked() && this.#begin(key, entry), waitMs).unref();
      return;
    }
    if (!isAsked()) return;
    entry.state = "set";
    onSet?.(key, entry.asked);
  }
}
