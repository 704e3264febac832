/** A container followed to its end, by its exit record. */
import type { Container, Look } from "./container.ts";
import type { ProcessState } from "./types.ts";
import { type RecordWatch, watchRecord } from "./watch-record.ts";

export class Follower {
  /** Settles when nothing of the container is left. */
  readonly ended: Promise<ProcessState>;
  /** Settles when the first look at the record is over. */
  readonly seen: Promise<void>;
  readonly #watch: RecordWatch;
  #waiters = 0;

  /** `tell`: what each look has seen. */
  constructor(container: Container, tell: (look: Look) => void) {
    this.#watch = watchRecord(container.directory.record);
    let seen = () => {};
    this.seen = new Promise((resolve) => {
      seen = resolve;
    });
    this.ended = this.#untilEnd(container, tell, () => seen());
    // wait() rejects with it. Without a caller of wait() it must not end this process.
    this.ended.catch(() => {});
  }

  async #untilEnd(container: Container, tell: (look: Look) => void, seen: () => void): Promise<ProcessState> {
    try {
      for (;;) {
        const look = await container.look();
        tell(look);
        if (look.now === "exited") return look.state;
        seen();
        await this.#watch.changed();
      }
    } finally {
      seen();
      this.#watch.close();
    }
  }

  async wait(): Promise<ProcessState> {
    this.hold(true);
    try {
      return await this.ended;
    } finally {
      this.hold(false);
    }
  }

  /** The timer keeps this process alive only while a caller waits. */
  hold(on: boolean): void {
    this.#waiters += on ? 1 : -1;
    if (this.#waiters > 0) this.#watch.ref();
    else this.#watch.unref();
  }
}
