/**
 * A pool of containers that are made ahead and wait for their program. Each runs once. What is left to pay when a request comes is a message to a process that waits: no
 * process of the host is made for it.
 */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CLAIM_FILE } from "../../shared/protocol/index.ts";
import { makeDirectories } from "../directory.ts";
import { aborted, ExecutorError } from "../errors.ts";
import { Executor } from "../executor.ts";
import { parseState, readStateFile } from "../record.ts";
import { Box, type BoxResult } from "./box.ts";
import { checkPool, checkTake, type PoolOptions, type PoolStats, type TakeRequest } from "./options.ts";
import { own } from "./owner.ts";
import { commandOf, DIGEST, digestOf, givenBy, type Process } from "./template.ts";

const MIB = 2 ** 20;
interface Parked {
  readonly executor: Executor;
  /** Of the template that it was made of. */
  readonly digest: string;
}

interface Waiter {
  readonly resolve: (executor: Executor) => void;
  readonly reject: (error: unknown) => void;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #release: () => void;
  #parked: Parked[] = [];
  #waiters: Waiter[] = [];
  readonly #taken = new Set<Executor>();
  readonly #removals = new Set<Promise<void>>();
  readonly #making = new Set<Promise<void>>();
  #filling: Promise<void> | undefined;
  #isOpen = true;
  readonly #closing = new AbortController();
  /** Containers that could not be made, since the last one that could. */
  #failing = 0;
  readonly #counts = { takes: 0, refills: 0, failures: 0, adopted: 0, discarded: 0 };

  private constructor(options: PoolOptions) {
    this.#options = options;
    makeDirectories(options.stateDir, 0o700);
    this.#release = own(options.stateDir);
  }

  /**
   * Containers that a dead owner has left ready are taken over if they are of this template; others, and boxes that it had given out, are ended. Returns before all are ready.
   * @throws ExecutorError invalid-argument; wrong-state: another process has this pool; runtime-not-found, runtime-version
   */
  static async open(options: PoolOptions): Promise<Pool> {
    checkPool(options);
    const pool = new Pool(options);
    try {
      await pool.#adopt();
    } catch (error) {
      pool.#release();
      throw error;
    }
    pool.#fill();
    return pool;
  }

  stats(): PoolStats {
    const { size } = this.#options;
    return {
      size,
      parked: this.#parked.length,
      making: this.#making.size,
      taken: this.#taken.size,
      waiting: this.#waiters.length,
      ...this.#counts,
    };
  }

  /**
   * A box whose program runs. Waits while none is ready, or as many are taken as may be.
   * @throws ExecutorError invalid-argument; busy; wrong-state: the pool is closed; aborted; launch-failed; ProgramError, when the program cannot be executed
   */
  async take(request: TakeRequest = {}): Promise<Box> {
    checkTake(request, this.#options.template.launch.resources ?? {});
    const { signal } = request;
    for (;;) {
      const executor = await this.#next(signal);
      try {
        return await this.#start(executor, request);
      } catch (error) {
        this.#discard(executor);
        // It was ended, or claimed by somebody else, while it was parked: the next one is as good.
        if (!(error instanceof ExecutorError && error.code === "wrong-state") || !this.#isOpen) throw error;
      }
    }
  }

  /** take, with all output and the end. @throws as take */
  async run(request: TakeRequest = {}): Promise<BoxResult> {
    const box = await this.take(request);
    try {
      return await box.collect(this.#options.template.outputBytes ?? MIB);
    } finally {
      await box[Symbol.asyncDispose]();
    }
  }

  /** Gives out no more, and waits for the boxes that are taken; then as close. */
  async drain(): Promise<void> {
    this.#stop();
    await Promise.all([...this.#taken].map((executor) => executor.wait().catch(() => {})));
    await this.close();
  }

  /** Ends all of it: boxes that are taken, too. @throws ExecutorError stuck */
  async close(): Promise<void> {
    this.#stop();
    await this.#filling;
    await Promise.all(this.#making);
    for (const { executor } of this.#parked.splice(0)) this.#discard(executor, false);
    for (const executor of this.#taken) await executor.shutdown({ graceMs: 0 });
    await Promise.all(this.#removals);
    this.#release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #stop(): void {
    this.#isOpen = false;
    this.#closing.abort();
    for (const { reject } of this.#waiters.splice(0)) reject(closed());
  }

  get #boxes(): string {
    return join(this.#options.stateDir, "boxes");
  }

  #executor(id: string): Executor {
    const { binary } = this.#options;
    return new Executor({ stateDir: this.#boxes, id, ...(binary === undefined ? {} : { binary }) });
  }

  async #adopt(): Promise<void> {
    const { binary } = this.#options;
    const digest = digestOf(this.#options.template.launch);
    for (const found of await Executor.adoptAll({ stateDir: this.#boxes, ...(binary === undefined ? {} : { binary }) })) {
      const { id } = found;
      if (!("executor" in found) || found.executor === undefined) {
        await Executor.discard({ stateDir: this.#boxes, id, ...(binary === undefined ? {} : { binary }) });
        continue;
      }
      const { executor } = found;
      const isGood = executor.state === "created" && this.#isUnclaimed(id) && Executor.annotations(this.#boxes, id)[DIGEST] === digest;
      if (isGood && this.#parked.length < this.#options.size) {
        this.#parked.push({ executor, digest });
        this.#counts.adopted++;
      } else this.#discard(executor);
    }
    await Promise.all(this.#removals);
  }

  #isUnclaimed(id: string): boolean {
    return statSync(join(this.#boxes, "@runtime", id, CLAIM_FILE), { throwIfNoEntry: false }) === undefined;
  }

  /** Never throws: what cannot be ended now is ended by the pool that is opened next. */
  #discard(executor: Executor, counts = true): void {
    if (counts) this.#counts.discarded++;
    const removal = (async () => {
      try {
        await executor[Symbol.asyncDispose]();
      } catch {
        // Stuck in the kernel.
      }
    })().finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  /** A container that waits, of the template as it is now. */
  async #next(signal: AbortSignal | undefined): Promise<Executor> {
    if (signal?.aborted) throw aborted("the wait for a box", signal);
    if (!this.#isOpen) throw closed();
    const executor = this.#taken.size < (this.#options.maxTaken ?? MOST_TAKEN) ? this.#ready() : undefined;
    if (executor !== undefined) return executor;
    if (this.#waiters.length >= (this.#options.maxWaiting ?? MOST_WAITING))
      throw new ExecutorError("busy", `${this.#waiters.length} callers wait for a box already`);
    return this.#wait(signal);
  }

  #wait(signal: AbortSignal | undefined): Promise<Executor> {
    return new Promise<Executor>((resolve, reject) => {
      const leave = () => signal?.removeEventListener("abort", abort);
      const waiter: Waiter = {
        resolve: (executor) => {
          leave();
          resolve(executor);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(aborted("the wait for a box", signal!));
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiters.push(waiter);
      this.#fill();
    });
  }

  /** Taken from now on. */
  #ready(): Executor | undefined {
    const digest = this.#parked.length === 0 ? "" : digestOf(this.#options.template.launch);
    for (let parked = this.#parked.shift(); parked !== undefined; parked = this.#parked.shift()) {
      const { executor } = parked;
      if (parked.digest === digest && executor.state === "created") {
        this.#taken.add(executor);
        this.#fill();
        return executor;
      }
      this.#discard(executor);
    }
    this.#fill();
    return undefined;
  }

  /** Who waits first comes first. */
  #serve(): void {
    while (this.#waiters.length > 0 && this.#taken.size < (this.#options.maxTaken ?? MOST_TAKEN)) {
      const executor = this.#ready();
      if (executor === undefined) return;
      this.#waiters.shift()!.resolve(executor);
    }
  }

  async #start(executor: Executor, request: TakeRequest): Promise<Box> {
    const { template } = this.#options;
    const gone = () => {
      this.#taken.delete(executor);
      this.#serve();
    };
    try {
      if (request.resources !== undefined) await executor.update(request.resources);
      const given = givenBy(this.#defaults(executor.id), request);
      // Before the program runs: else it could read the end of its input.
      const stdin = executor.openStdin();
      try {
        await executor.start(given);
      } finally {
        stdin.end(request.stdin);
      }
    } catch (error) {
      gone();
      throw error;
    }
    this.#counts.takes++;
    return new Box(executor, { deadlineMs: request.deadlineMs ?? template.deadlineMs ?? 0, signal: request.signal, gone });
  }

  /** The process of the template, as create has got it. */
  #defaults(id: string): Process {
    if (this.#process !== undefined) return this.#process;
    const path = join(this.#boxes, id, "config.json");
    const { process } = parseState<{ process: Process }>(path, readStateFile(path) ?? "", (config) => config.process);
    this.#process = process;
    return process;
  }

  #process: Process | undefined;

  /** In the background, one loop at a time. */
  #fill(): void {
    if (this.#filling !== undefined || !this.#isShort()) return;
    this.#filling = this.#refill().finally(() => {
      this.#filling = undefined;
      // What was taken since the loop had looked last.
      this.#fill();
    });
  }

  #isShort(): boolean {
    const { size, refillsAtOnce = AT_ONCE } = this.#options;
    if (!this.#isOpen || this.#making.size >= refillsAtOnce) return false;
    return this.#parked.length + this.#making.size < Math.max(size, Math.min(this.#waiters.length, refillsAtOnce));
  }

  async #refill(): Promise<void> {
    const { refillsPerSecond = A_SECOND } = this.#options;
    while (this.#isShort()) {
      // What fails once is likely to fail again.
      if (this.#failing > 0) await this.#pause(Math.min(PAUSE_MS * 2 ** this.#failing, PAUSE_MOST_MS));
      if (!this.#isShort()) return;
      const making: Promise<void> = this.#park().finally(() => {
        this.#making.delete(making);
        this.#fill();
      });
      this.#making.add(making);
      await this.#pause(1000 / refillsPerSecond);
    }
  }

  /** Keeps the process alive for callers only. Ends with the pool. */
  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { ref: this.#waiters.length > 0, signal: this.#closing.signal });
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
    }
  }

  /** Never throws: the callers that wait have the error. */
  async #park(): Promise<void> {
    const executor = this.#executor(`b-${randomUUID()}`);
    let digest: string;
    try {
      digest = digestOf(this.#options.template.launch);
      await executor.create(commandOf(this.#options.template.launch, digest));
      // The owner keeps no descriptor of a container that waits.
      executor.stdin?.destroy();
    } catch (error) {
      this.#counts.failures++;
      this.#failing++;
      for (const { reject } of this.#waiters.splice(0)) reject(error);
      return;
    }
    this.#counts.refills++;
    this.#failing = 0;
    this.#parked.push({ executor, digest });
    this.#serve();
  }
}

const MOST_TAKEN = 100;
const MOST_WAITING = 1000;
const AT_ONCE = 2;
const A_SECOND = 200;
const PAUSE_MS = 50;
const PAUSE_MOST_MS = 5_000;

function closed(): ExecutorError {
  return new ExecutorError("wrong-state", "the pool is closed");
}
