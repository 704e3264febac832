/** Limits how many things are open at the same time, of all clients and of each. */
import type { Caller } from "../../engine/index.ts";

/** Who holds a slot: of root, who has admin.sock anyway, each process counts for itself; of any other user all of them count as one. */
export function clientOf(caller: Caller | undefined): string {
  if (caller === undefined) return "a client that is not known";
  return caller.uid === 0 ? `process ${caller.pid}` : `user ${caller.uid}`;
}

export interface Shares {
  /** So many are for whoever comes first. Nobody is asked for who he is then, which takes a process. */
  readonly free: number;
  /** So many of the others for one client. */
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

  /** How a slot is taken; a text: why this client gets none. */
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

  /** Takes a slot, of which one must be free. Returns a function that frees it and may be called more than once. */
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
