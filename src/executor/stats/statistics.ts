/** What one container uses, asked once or again and again. */
import { ExecutorError } from "../errors.ts";
import type { Cgroup } from "../process/cgroups.ts";
import type { Runtime } from "../runtime/client.ts";
import { Meter } from "./meter.ts";
import { type StatsStreamOptions, statsStream } from "./stream.ts";
import type { Stats } from "./types.ts";

/** Facts of the executor, read at each call. */
export interface Subject {
  readonly runtime: Runtime;
  readonly id: string;
  /** How long the program runs, in milliseconds. */
  readonly ageMs: () => number;
  /** The program has ended. */
  readonly hasEnded: () => boolean;
}

export class Statistics {
  readonly #subject: Subject;
  #cgroup: Promise<Cgroup | undefined> | undefined;
  #meter: Meter | undefined;
  /** Called at the end of the container. */
  readonly #endings = new Set<() => void>();

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** undefined: it has none. @throws RuntimeError */
  cgroup(): Promise<Cgroup | undefined> {
    const { runtime, id } = this.#subject;
    this.#cgroup ??= runtime.inspect(id).then(
      ({ cgroup }) => cgroup,
      (error: unknown) => {
        this.#cgroup = undefined;
        throw error;
      },
    );
    return this.#cgroup;
  }

  /** Percentages are since the last call. @throws ExecutorError wrong-state, when it has no cgroup */
  async read(hasProcesses = true): Promise<Stats> {
    this.#meter ??= await this.#newMeter();
    return this.#meter.read(hasProcesses);
  }

  stream(options: StatsStreamOptions): AsyncGenerator<Stats, void, undefined> {
    const { hasEnded } = this.#subject;
    let meter: Meter | undefined;
    const read = async () => {
      try {
        meter ??= await this.#newMeter();
        const stats = await meter.read();
        // Of a container that has ended meanwhile nothing can be read, or not all.
        return hasEnded() ? undefined : stats;
      } catch (error) {
        if (hasEnded()) return undefined;
        throw error;
      }
    };
    const atEnd = (wake: () => void) => {
      if (hasEnded()) wake();
      this.#endings.add(wake);
      return () => void this.#endings.delete(wake);
    };
    return statsStream({ read, atEnd }, options);
  }

  /** The container has ended: a stream that waits for the next value ends now. */
  end(): void {
    for (const wake of this.#endings) wake();
  }

  async #newMeter(): Promise<Meter> {
    const cgroup = await this.cgroup();
    if (cgroup === undefined) throw new ExecutorError("wrong-state", `executor ${this.#subject.id} has no cgroup`);
    return new Meter(cgroup, this.#subject.ageMs());
  }
}
