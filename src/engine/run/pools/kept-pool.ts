/** One pool of the engine: it is opened, again and again until that succeeds, gives out containers, and is removed. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Box, Pool, type PoolFailure, type PoolStats, type TakeRequest } from "../../../executor/index.ts";
import type { PoolRecord } from "../../model/index.ts";
import type { ImageConfig } from "../../spec/index.ts";
import { EngineError } from "../errors.ts";
import type { EngineLog } from "../log.ts";
import { templateOf } from "./template.ts";

export interface PoolPlace {
  readonly rootfs: string;
  /** undefined: the pool has no image. */
  readonly image: ImageConfig | undefined;
}

export interface KeptPoolOptions {
  /** Absolute directory of this pool alone. */
  readonly stateDir: string;
  readonly binary: string;
  readonly cgroupParent: string;
  readonly log: EngineLog;
  /** Gets the image and makes the root file system. @throws why that cannot be done */
  prepare(record: PoolRecord, signal: AbortSignal): Promise<PoolPlace>;
  /** Removes all that `prepare` has made, and the directory of the pool. */
  clean(record: PoolRecord): Promise<void>;
  /** undefined: it works again. */
  tellFailure(id: string, failure: PoolFailure | undefined): void;
  /** Nothing of it is left. @throws StoreError */
  forget(id: string): Promise<void>;
}

const WAITS = { firstMs: 500, longestMs: 60_000 };

interface Waiter {
  readonly resolve: (pool: Pool) => void;
  readonly reject: (error: Error) => void;
}

export class KeptPool {
  readonly record: PoolRecord;
  readonly #options: KeptPoolOptions;
  readonly #leaving = new AbortController();
  readonly #opening: Promise<void>;
  readonly #waiting = new Set<Waiter>();
  #pool: Pool | undefined;
  #failure: PoolFailure | undefined;
  #ending: Promise<void> | undefined;

  /** @param record of a pool that is ending is only removed */
  constructor(record: PoolRecord, options: KeptPoolOptions) {
    this.record = record;
    this.#options = options;
    this.#opening = record.ending === undefined ? this.#open() : Promise.resolve();
  }

  /** undefined: it is not open yet. */
  get stats(): PoolStats | undefined {
    return this.#pool?.stats();
  }

  /** Why no container can be made; undefined: nothing is known that prevents it. */
  get failure(): PoolFailure | undefined {
    return this.#pool?.stats().failing ?? this.#failure;
  }

  /** @throws EngineError pool-unavailable, invalid-argument; as Pool.take */
  async take(request: TakeRequest): Promise<Box> {
    const { deadline } = this.record.spec;
    const { deadlineMs = deadline } = request;
    if (!Number.isInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > deadline)
      throw new EngineError("invalid-argument", `deadlineMs ${deadlineMs}: the pool allows 1 to ${deadline}`, { field: "deadlineMs" });
    if (this.#ending !== undefined) throw beingRemoved();
    const pool = this.#pool ?? (await this.#opened(request.signal));
    return pool.take(request);
  }

  /** Removes the pool with all of it. May be repeated: kill does not wait for the programs that drain lets end. */
  end(how: "drain" | "kill"): void {
    this.#leaving.abort();
    if (how === "kill") void this.#pool?.close().catch(() => {});
    this.#ending ??= this.#remove(how);
  }

  /** As if this process had died: what is there stays for the next engine. */
  leave(): void {
    this.#leaving.abort();
    this.#refuse(new EngineError("pool-unavailable", "the engine is closed"));
    if (this.#ending === undefined) this.#pool?.leave();
  }

  /** Settles with the pool or the next failure. */
  #opened(signal: AbortSignal | undefined): Promise<Pool> {
    if (this.#failure !== undefined) throw this.#unavailable(this.#failure);
    if (this.record.ending !== undefined || this.#leaving.signal.aborted) throw beingRemoved();
    if (this.#waiting.size >= this.record.spec.maxWaiting)
      throw new EngineError("pool-unavailable", `the pool is being made, and ${this.#waiting.size} requests wait for it already`);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", () => {
        if (this.#waiting.delete(waiter)) reject(new EngineError("pool-unavailable", "the request was cancelled"));
      });
    });
  }

  #refuse(error: Error): void {
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  #unavailable({ code, message }: PoolFailure): EngineError {
    return new EngineError("pool-unavailable", `no container of the pool ${this.record.name} can be made: ${message}`, { reason: code });
  }

  /** Never throws. */
  async #open(): Promise<void> {
    const { signal } = this.#leaving;
    for (let times = 1; !signal.aborted; times++) {
      try {
        const pool = await this.#openOnce(signal);
        if (this.#failure !== undefined) this.#tell(undefined);
        this.#pool = pool;
        for (const { resolve } of this.#waiting) resolve(pool);
        this.#waiting.clear();
        return;
      } catch (error) {
        if (signal.aborted) return;
        const { code = "unknown", message } = error as NodeJS.ErrnoException;
        this.#tell({ code: String(code), message, times, lastMs: Date.now() });
        await sleep(Math.min(WAITS.firstMs * 2 ** (times - 1), WAITS.longestMs), undefined, { ref: false, signal }).catch(() => {});
      }
    }
  }

  async #openOnce(signal: AbortSignal): Promise<Pool> {
    const { stateDir, binary, cgroupParent, prepare } = this.#options;
    const { record } = this;
    const { size, maxTaken, maxWaiting, refillsPerSecond, refillsAtOnce } = record.spec;
    const { rootfs, image } = await prepare(record, signal);
    const template = templateOf(record.spec, rootfs, record.users.first, image);
    const pool = await Pool.open({
      template: { ...template, launch: { ...template.launch, cgroupParent } },
      ...{ size, stateDir, maxTaken, maxWaiting, refillsPerSecond, refillsAtOnce, binary },
      onEvent: (event) => this.#tell(event.type === "failing" ? event.failure : undefined),
    });
    if (!signal.aborted) return pool;
    pool.leave();
    throw signal.reason;
  }

  #tell(failure: PoolFailure | undefined): void {
    const isNews = (failure === undefined) !== (this.#failure === undefined);
    this.#failure = failure;
    if (failure !== undefined) this.#refuse(this.#unavailable(failure));
    if (isNews) this.#options.tellFailure(this.record.id, failure);
  }

  /** Never throws; what cannot be removed is tried again. */
  async #remove(how: "drain" | "kill"): Promise<void> {
    const { stateDir, binary, clean, forget, log } = this.#options;
    const { record } = this;
    this.#refuse(beingRemoved());
    await this.#opening;
    for (let times = 1; ; times++) {
      try {
        if (this.#pool !== undefined) await (how === "drain" && times === 1 ? this.#pool.drain() : this.#pool.close());
        else await Pool.discard({ stateDir, binary });
        await clean(record);
        await forget(record.id);
        return;
      } catch (error) {
        log("error", "pool-not-removed", { pool: record.id, message: String(error) });
        await sleep(Math.min(WAITS.firstMs * 2 ** (times - 1), WAITS.longestMs), undefined, { ref: false });
      }
    }
  }
}

function beingRemoved(): EngineError {
  return new EngineError("pool-unavailable", "the pool is being removed");
}
