/**
 * Looks up, after a start, what is left of the tasks in the store. The earlier daemon is dead (its lock on the store is free), and the executor fences
 * what it had begun for each container: it waits for a launch in progress, and prevents one that has not started.
 */
import { ExecutorError } from "../../executor/index.ts";
import type { ContainerExit, ContainerRecord, Instant, Observation, TaskRecord } from "../model/index.ts";
import { Limit } from "./limit.ts";
import { type ContainerRuntime, exitOf } from "./runtime.ts";
import type { Happening } from "./turn.ts";

export interface Recovered {
  /** In order, for each task. */
  readonly happenings: readonly (readonly [task: string, Happening])[];
  /** Incarnations whose end is to be told from now on. */
  readonly running: readonly string[];
  /** What could not be looked up, and why: it is left as it was recorded. */
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
  /** How many health checks and other execs of the daemon before were ended in its containers. */
  readonly execs: number;
}

/** Each look may start a process of the runtime. */
const AT_ONCE = 8;

export async function recover(records: readonly TaskRecord[], runtime: ContainerRuntime, now: Instant): Promise<Recovered> {
  const ended = await runtime.ended();
  const look = new Look(runtime, now);
  const happenings = await Promise.all(
    records.map(async (record) => {
      const seen = record.bootId === now.bootId ? await look.at(record) : [booted(record, ended)];
      return [{ type: "fenced" } as const, ...seen].map((happening) => [record.id, happening] as const);
    }),
  );
  return { happenings: happenings.flat(), running: look.running, failures: look.failures, execs: look.execs };
}

class Look {
  readonly running: string[] = [];
  readonly failures: { id: string; error: unknown }[] = [];
  execs = 0;
  readonly #limit = new Limit(AT_ONCE);
  readonly #runtime: ContainerRuntime;
  readonly #now: Instant;

  constructor(runtime: ContainerRuntime, now: Instant) {
    this.#runtime = runtime;
    this.#now = now;
  }

  async at(record: TaskRecord): Promise<Happening[]> {
    const seen = record.containers.filter(mayBeThere).map((container) => this.#limit.run(() => this.#atContainer(container)));
    return (await Promise.all(seen)).flatMap((happening) => happening ?? []);
  }

  async #atContainer(container: ContainerRecord): Promise<Happening | undefined> {
    const { name, generation, runtimeId } = container;
    try {
      const observation = await this.#observe(container);
      if (observation.state === "running") {
        this.running.push(runtimeId);
        const ended = await this.#endLeftExecs(runtimeId);
        this.execs += ended;
      }
      return { type: "lookedUp", container: name, generation, observation };
    } catch (error) {
      this.failures.push({ id: runtimeId, error });
      return undefined;
    }
  }

  /** What it has left goes with the container at the latest. */
  async #endLeftExecs(id: string): Promise<number> {
    try {
      return await this.#runtime.endLeftExecs(id);
    } catch (error) {
      // It may have ended since.
      if (!(error instanceof ExecutorError && error.code === "wrong-state")) this.failures.push({ id, error });
      return 0;
    }
  }

  async #observe(container: ContainerRecord): Promise<Observation> {
    const found = await this.#runtime.find(container.runtimeId);
    switch (found.state) {
      case "absent":
        // Nothing is made of a container before it is started: one that was recorded as created is what it was.
        return { state: container.known === "CREATED" ? "created" : "absent" };
      case "running":
        return { state: "running", startedAt: container.startedAt ?? instantOf(found.process.startedMs, this.#now) };
      case "exited":
        return { state: "exited", exit: exitOf(found.process) };
    }
  }
}

/** What ended and was seen to end needs no second look. */
function mayBeThere({ known, applied, isUnsure }: ContainerRecord): boolean {
  return known !== "STOPPED" || applied !== null || isUnsure;
}

/** The runtime knows the wall time of a start that was not recorded: the time of this boot follows from it, as long as nobody has set the clock since. */
function instantOf(wallMs: number, now: Instant): Instant {
  return { bootId: now.bootId, bootMs: Math.max(0, now.bootMs - (now.wallMs - wallMs)), wallMs };
}

/** Ends that were recorded before the host went down, and that this engine has not seen. */
function booted(record: TaskRecord, ended: ReadonlyMap<string, ContainerExit>): Happening {
  const exits = record.containers.flatMap(({ runtimeId }) => {
    const exit = ended.get(runtimeId);
    return exit === undefined ? [] : [[runtimeId, exit] as const];
  });
  return { type: "booted", exits: Object.fromEntries(exits) };
}

/** Ids that a record stands for, in the runtime. */
export function idsOf(record: TaskRecord): string[] {
  return [...record.containers, ...record.leftovers].map(({ runtimeId }) => runtimeId);
}
