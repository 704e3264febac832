/** Limits how many things are open at the same time, in total and for each client. */
import type { Caller } from "../../engine/index.ts";

/**
 * Identifies the client that holds a slot. Each process of root counts for itself, because root can use admin.sock anyway. All processes of another
 * user count as one client.
 */
export function clientOf(caller: Caller | undefined): string {
  if (caller === undefined) return "a client that is not known";
  return caller.uid === 0 ? `process ${caller.pid}` : `user ${caller.uid}`;
}

export interface Shares {
  /** Number of slots for any client. For these the client is not identified, which would need a process. */
  readonly free: number;
  /** Number of the other slots that one client may have. */
  readonly each: number;
}

export class Slots {
  readonly most: number;
  readonly #shares: Shares;
  readonly #of = new Map<string, number>();
  #taken = 0;

  constructor(most: number, shares: Shares = { free: most, each: most }) {
    this.most = most;
    this.#shares = shares;
  }

  get isFull(): boolean {
    return this.#taken >= this.most;
  }

  /** Returns a function that takes a slot, or a text that says why this client gets none. */
  async placeFor(caller: () => Promise<Caller | undefined>): Promise<(() => () => void) | string> {
    if (this.#taken < this.#shares.free) return () => this.take();
    const full = () => (this.isFull ? `there are ${this.most} readers` : undefined);
    const reason = full();
    if (reason !== undefined) return reason;
    const client = clientOf(await caller());
    if ((this.#of.get(client) ?? 0) >= this.#shares.each)
      return `${client} has ${this.#shares.each} readers, and more than ${this.#shares.free} are there`;
    return full() ?? (() => this.take(client));
  }

  /** Takes a slot; there must be a free one. Returns a function that frees it, and that may be called more than once. */
  take(client?: string): () => void {
    let isTaken = true;
    this.#add(client, 1);
    return () => {
      if (isTaken) this.#add(client, -1);
      isTaken = false;
    };
  }

  #add(client: string | undefined, by: 1 | -1): void {
    this.#taken += by;
    if (client === undefined) return;
    const count = (this.#of.get(client) ?? 0) + by;
    if (count === 0) this.#of.delete(client);
    else this.#of.set(client, count);
  }
}

/** Holds a slot for the duration of the action. */
export async function during(take: () => () => void, action: () => Promise<void>): Promise<void> {
  const free = take();
  try {
    await action();
  } finally {
    free();
  }
}
