/** Makes the containers of a pool in the background, at a bounded rate, and tells why it cannot. */
import { setTimeout as sleep } from "node:timers/promises";
import type { PoolEvent, PoolFailure } from "./options.ts";

export interface RefillRules {
  /** The most that are made at the same time, and in a second. */
  readonly atOnce: number;
  readonly perSecond: number;
  readonly onEvent: ((event: PoolEvent) => void) | undefined;
}

/** The pool, as the refill asks it. */
export interface Demand {
  /** Containers that are to be there and are not; those that are being made count as not there. */
  missing(): number;
  /** Whether callers wait for a container. */
  isUrgent(): boolean;
  /** Whether a box is being started. */
  isClaiming(): boolean;
  /** Makes one. @throws why it cannot be */
  make(): Promise<void>;
  /** Called when one could not be made. */
  failed(error: unknown): void;
}

const PAUSE_MS = 50;
const PAUSE_MOST_MS = 5_000;
const AFTER_TAKE_MS = 5;

export class Refill {
  readonly #rules: RefillRules;
  readonly #demand: Demand;
  readonly #making = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #filling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: PoolFailure | undefined;
  readonly #counts = { refills: 0, failures: 0 };

  constructor(rules: RefillRules, demand: Demand) {
    this.#rules = rules;
    this.#demand = demand;
  }

  get making(): number {
    return this.#making.size;
  }

  /** Counts begin when the pool is opened. `failing` says why no container can be made now. */
  get counts(): { readonly refills: number; readonly failures: number; readonly failing: PoolFailure | undefined } {
    return { ...this.#counts, failing: this.#failure };
  }

  /** The start of a process takes milliseconds in which this one does nothing else: not while a box is being started, unless callers wait. */
  later(): void {
    if (this.#demand.isUrgent()) {
      this.now();
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#demand.isClaiming()) this.later();
      else this.now();
    }, AFTER_TAKE_MS).unref();
  }

  /** One loop at a time. */
  now(): void {
    if (this.#filling !== undefined || !this.#isShort()) return;
    this.#filling = this.#fill().finally(() => {
      this.#filling = undefined;
      // What was taken since the loop had looked last.
      this.now();
    });
  }

  /** Begins no further one. */
  stop(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  /** After stop: none is being made any more. */
  async ended(): Promise<void> {
    await this.#filling;
    await Promise.all(this.#making);
  }

  #isShort(): boolean {
    if (this.#closing.signal.aborted || this.#making.size >= this.#rules.atOnce) return false;
    return this.#demand.missing() > this.#making.size;
  }

  async #fill(): Promise<void> {
    while (this.#isShort()) {
      // What fails once is likely to fail again.
      if (this.#failure !== undefined) await this.#pause(Math.min(PAUSE_MS * 2 ** this.#failure.times, PAUSE_MOST_MS));
      if (!this.#isShort()) return;
      const making: Promise<void> = this.#make().finally(() => {
        this.#making.delete(making);
        this.now();
      });
      this.#making.add(making);
      await this.#pause(1000 / this.#rules.perSecond);
    }
  }

  /** Keeps the process alive for callers only. Ends with the pool. */
  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { ref: this.#demand.isUrgent(), signal: this.#closing.signal });
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
    }
  }

  /** Never throws. */
  async #make(): Promise<void> {
    try {
      await this.#demand.make();
    } catch (error) {
      this.#counts.failures++;
      const { code = "unknown", message } = error as NodeJS.ErrnoException;
      this.#failure = { code, message, times: (this.#failure?.times ?? 0) + 1, lastMs: Date.now() };
      this.#tell({ type: "failing", failure: this.#failure });
      this.#demand.failed(error);
      return;
    }
    this.#counts.refills++;
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#tell({ type: "recovered" });
  }

  /** What the caller's function throws is an error of its own, and none of this pool's. */
  #tell(event: PoolEvent): void {
    const { onEvent } = this.#rules;
    if (onEvent !== undefined) queueMicrotask(() => onEvent(event));
  }
}
