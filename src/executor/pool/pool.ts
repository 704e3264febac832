/**
 * A pool of containers that are made ahead and wait for their program. Each runs once. What is left to pay when a request comes is a message to a process that waits: no
 * process of the host is made for it.
 */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { CLAIM_FILE } from "../../shared/protocol/index.ts";
import { makeDirectories } from "../directory.ts";
import { aborted, ExecutorError } from "../errors.ts";
import { Executor } from "../executor.ts";
import { keepSpareFifos } from "../launch/fifos.ts";
import { parseState, readStateFile } from "../record.ts";
import type { ExecutorOptions } from "../types.ts";
import { Box, type BoxResult } from "./box.ts";
import { checkPool, checkTake, type PoolOptions, type PoolStats, type TakeRequest } from "./options.ts";
import { type Connection, connect } from "./outbound/connection.ts";
import { isMarked, withResolver, writeResolver } from "./outbound/traces.ts";
import { own } from "./owner.ts";
import { Refill } from "./refill.ts";
import { commandOf, DIGEST, givenBy, type Process, TemplateDigest } from "./template.ts";
import { Waiters } from "./waiters.ts";

const MIB = 2 ** 20;
interface Parked {
  readonly executor: Executor;
  /** Of the template that it was made of. */
  readonly digest: string;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #release: () => void;
  readonly #digest: TemplateDigest;
  #parked: Parked[] = [];
  readonly #waiters = new Waiters<Executor>();
  readonly #taken = new Set<Executor>();
  readonly #removals = new Set<Promise<void>>();
  readonly #refill: Refill;
  /** Claims under way. */
  #starting = 0;
  #isOpen = true;
  readonly #counts = { takes: 0, adopted: 0, discarded: 0 };
  #networksLost = 0;

  private constructor(options: PoolOptions) {
    // A caller that changes its template afterwards changes nothing of this pool.
    this.#options = { ...options, template: withResolver(structuredClone(options.template), options.stateDir) };
    this.#digest = new TemplateDigest(this.#options.template.launch);
    const { size, refillsAtOnce: atOnce = AT_ONCE, refillsPerSecond: perSecond = A_SECOND, onEvent } = options;
    this.#refill = new Refill(
      { atOnce, perSecond, onEvent },
      {
        missing: () => Math.max(size, Math.min(this.#waiters.length, atOnce)) - this.#parked.length,
        isUrgent: () => this.#waiters.length > 0,
        isClaiming: () => this.#starting > 0 && this.#parked.length > 0,
        make: () => this.#park(),
        // The callers that wait have the error.
        failed: (error) => this.#waiters.rejectAll(error),
      },
    );
    makeDirectories(options.stateDir, 0o700);
    const release = own(options.stateDir);
    if (options.template.outbound !== undefined) writeResolver(options.stateDir);
    const endSpare = keepSpareFifos(this.#boxes, SPARE_FIFOS);
    this.#release = () => {
      endSpare();
      release();
    };
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
    pool.#refill.now();
    return pool;
  }

  stats(): PoolStats {
    const { size, template } = this.#options;
    return {
      size,
      parked: this.#parked.length,
      making: this.#refill.making,
      taken: this.#taken.size,
      waiting: this.#waiters.length,
      waits: this.#waiters.count,
      ...this.#counts,
      ...this.#refill.counts,
      ...(template.outbound === undefined ? {} : { networksLost: this.#networksLost }),
    };
  }

  /**
   * A box whose program runs. Waits while none is ready, or as many are taken as may be.
   * @throws ExecutorError invalid-argument; busy; wrong-state: the pool is closed; aborted; launch-failed; ProgramError, when the program cannot be executed
   */
  async take(request: TakeRequest = {}): Promise<Box> {
    checkTake(request, this.#options.template.launch);
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
    await this.#refill.ended();
    for (const { executor } of this.#parked.splice(0)) this.#discard(executor, false);
    for (const executor of this.#taken) await executor.shutdown({ graceMs: 0 });
    await Promise.all(this.#removals);
    this.#release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Gives the pool up as the death of this process would: callers that wait get the error `wrong-state`, and containers stay. The next `open` takes over those that wait for a
   * program, and ends boxes that are in use.
   */
  leave(): void {
    this.#stop();
    this.#release();
  }

  /** Ends every container of a pool that no process has, and of which nothing is needed any more. @throws ExecutorError wrong-state: a process has it; stuck */
  static async discard(options: Pick<PoolOptions, "stateDir" | "binary">): Promise<void> {
    const release = own(options.stateDir);
    const executors = executorsOf(options);
    try {
      for (const { id, executor } of await Executor.adoptAll(executors)) {
        if (executor === undefined) await Executor.discard({ ...executors, id });
        else await executor[Symbol.asyncDispose]();
      }
    } finally {
      release();
    }
  }

  #stop(): void {
    this.#isOpen = false;
    this.#refill.stop();
    this.#waiters.rejectAll(closed());
  }

  get #boxes(): string {
    return join(this.#options.stateDir, "boxes");
  }

  #executor(id: string): Executor {
    return new Executor({ ...executorsOf(this.#options), id });
  }

  async #adopt(): Promise<void> {
    const digest = this.#digest.now();
    for (const found of await Executor.adoptAll(executorsOf(this.#options))) {
      const { id } = found;
      if (!("executor" in found) || found.executor === undefined) {
        await Executor.discard({ ...executorsOf(this.#options), id });
        continue;
      }
      const { executor } = found;
      const isNew = executor.state === "created" && this.#isUnclaimed(id) && !isMarked(join(this.#boxes, id));
      const isGood = isNew && Executor.annotations(this.#boxes, id)[DIGEST] === digest;
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
    const waiting = this.#waiters.wait(signal);
    this.#refill.now();
    return waiting;
  }

  /** undefined: there is no root any more. Why, the next container that is to be made says. */
  #digestNow(): string | undefined {
    try {
      return this.#digest.now();
    } catch {
      return undefined;
    }
  }

  /** Taken from now on. Whether it is still good is found out by the claim. */
  #ready(): Executor | undefined {
    const digest = this.#parked.length === 0 ? undefined : this.#digestNow();
    this.#refill.later();
    for (let parked = this.#parked.shift(); parked !== undefined; parked = this.#parked.shift()) {
      const { executor } = parked;
      if (parked.digest === digest) {
        this.#taken.add(executor);
        return executor;
      }
      this.#discard(executor);
    }
    return undefined;
  }

  /** Who waits first comes first. */
  #serve(): void {
    while (this.#waiters.length > 0 && this.#taken.size < (this.#options.maxTaken ?? MOST_TAKEN)) {
      const executor = this.#ready();
      if (executor === undefined) return;
      this.#waiters.serve(executor);
    }
  }

  async #start(executor: Executor, request: TakeRequest): Promise<Box> {
    const { signal, deadlineMs = this.#options.template.deadlineMs ?? 0 } = request;
    const { template } = this.#options;
    let claimed = 0;
    let connection: Connection | undefined;
    const gone = () => {
      this.#taken.delete(executor);
      if (connection?.isLost) this.#networksLost++;
      this.#serve();
    };
    try {
      if (request.resources !== undefined) await executor.update(request.resources);
      const given = givenBy(this.#defaults(executor.id), deadlineMs, request);
      // Before the program runs: else it could read the end of its input. Without a writer it reads that at once.
      const stdin = request.stdin === undefined && !request.openStdin ? undefined : executor.openStdin();
      let runs = false;
      try {
        if (template.outbound !== undefined)
          connection = await connect(join(this.#boxes, executor.id), executor.process!, template, signal);
        claimed = performance.now();
        this.#starting++;
        const starting = executor.start(given).finally(() => this.#starting--);
        // While init begins the program: its output is waited for from now on.
        void executor.stdout;
        void executor.stderr;
        await starting;
        runs = true;
      } finally {
        if (!runs || !request.openStdin) stdin?.end(request.stdin);
        else if (request.stdin !== undefined) stdin!.write(request.stdin);
      }
      this.#counts.takes++;
      return new Box(executor, { deadlineMs, claimed, signal, stdin: request.openStdin ? stdin : undefined, connection, gone });
    } catch (error) {
      connection?.close();
      gone();
      throw error;
    }
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

  /** @throws why it cannot be */
  async #park(): Promise<void> {
    const executor = this.#executor(`b-${randomUUID()}`);
    const digest = this.#digest.now();
    await executor.create(commandOf(this.#options.template.launch, digest));
    // The owner keeps no descriptor of a container that waits.
    executor.stdin?.destroy();
    this.#parked.push({ executor, digest });
    this.#serve();
  }
}

const MOST_TAKEN = 100;
const MOST_WAITING = 1000;
const AT_ONCE = 2;
const A_SECOND = 200;
/** One process makes them for many containers, each of which takes four. */
const SPARE_FIFOS = { kept: 256, pauseMs: 20 };

/** No program of a box has a grace: it is killed when nobody wants it any more. */
function executorsOf({ stateDir, binary }: Pick<PoolOptions, "stateDir" | "binary">): Omit<ExecutorOptions, "id"> {
  return { stateDir: join(stateDir, "boxes"), atScopeEnd: { graceMs: 0 }, ...(binary === undefined ? {} : { binary }) };
}

function closed(): ExecutorError {
  return new ExecutorError("wrong-state", "the pool is closed");
}
