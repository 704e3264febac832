/**
 * Finds out, after a start, what is left of the tasks in the store. The earlier daemon is dead, because its lock on the store is free. The executor takes care of
 * the launches that it left unfinished: it waits for a launch in progress, and prevents one that has not started.
 */
import { ExecutorError, type ProcessState } from "../../executor/index.ts";
import type { ContainerExit, ContainerRecord, Instant, Observation, TaskRecord } from "../model/index.ts";
import { type ContainerRuntime, exitOf } from "./containers/runtime.ts";
import { Limit } from "./limit.ts";
import type { Happening } from "./mailbox.ts";

export interface Recovered {
  /** Events to post, in order for each task. */
  readonly happenings: readonly (readonly [task: string, Happening])[];
  /** Runtime ids of the containers that run, whose ends must be reported from now on. */
  readonly running: readonly string[];
  /** Containers that could not be examined, and why. Their records stay as they are. */
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
  /** Number of health checks and other execs of the earlier daemon that were ended. */
  readonly execs: number;
}

/** Number of containers examined at the same time: each may need a process of the runtime. */
const AT_ONCE = 8;

export async function recover(records: readonly TaskRecord[], runtime: ContainerRuntime, now: Instant): Promise<Recovered> {
  const ended = await runtime.ended();
  const recovery = new Recovery(runtime, now);
  const happenings = await Promise.all(
    records.map(async (record) => {
      const seen = record.bootId === now.bootId ? await recovery.at(record) : [booted(record, ended)];
      return [{ type: "fenced" } as const, ...seen].map((happening) => [record.id, happening] as const);
    }),
  );
  return { happenings: happenings.flat(), running: recovery.running, failures: recovery.failures, execs: recovery.execs };
}

class Recovery {
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

  /** Ends execs of the earlier daemon. One that cannot be ended now ends with its container at the latest. */
  async #endLeftExecs(id: string): Promise<number> {
    try {
      return await this.#runtime.endLeftExecs(id);
    } catch (error) {
      // The container may have ended in the meantime.
      if (!(error instanceof ExecutorError && error.code === "wrong-state")) this.failures.push({ id, error });
      return 0;
    }
  }

  async #observe(container: ContainerRecord): Promise<Observation> {
    const found = await this.#runtime.examine(container.runtimeId);
    switch (found.state) {
      case "absent":
        // Creating a container leaves nothing in the runtime until it is started, so that a container recorded as created still is.
        return { state: container.known === "CREATED" ? "created" : "absent" };
      case "running":
        return { state: "running", startedAt: container.startedAt ?? instantOf(found.process, this.#now) };
      case "exited":
        return { state: "exited", exit: exitOf(found.process) };
      case "lost":
        return found;
    }
  }
}

/** A container whose end was recorded without doubt needs no examination. */
function mayBeThere({ known, applied, isUnsure }: ContainerRecord): boolean {
  return known !== "STOPPED" || applied !== null || isUnsure;
}

/** Of /proc, on x86-64 and arm64 (proc_pid_stat(5), starttime). */
const MS_PER_TICK = 10;

/**
 * Converts the wall time of a start, known only to the runtime, to time since boot. Its first process was started before, and both before now: where that
 * does not fit, the wall clock was set in between, and the time of the first process is taken.
 */
export function instantOf({ startedMs, startTicks }: Pick<ProcessState, "startedMs" | "startTicks">, now: Instant): Instant {
  const begunMs = Math.min(now.bootMs, Number(startTicks) * MS_PER_TICK || 0);
  const toldMs = now.bootMs - (now.wallMs - startedMs);
  const isTrue = toldMs >= begunMs && toldMs <= now.bootMs;
  return { bootId: now.bootId, bootMs: isTrue ? toldMs : begunMs, wallMs: startedMs };
}

/** For a task of an earlier boot: the ends that were recorded before the host went down and that the engine has not seen. */
function booted(record: TaskRecord, ended: ReadonlyMap<string, ContainerExit>): Happening {
  const exits = record.containers.flatMap(({ runtimeId }) => {
    const exit = ended.get(runtimeId);
    return exit === undefined ? [] : [[runtimeId, exit] as const];
  });
  return { type: "booted", exits: Object.fromEntries(exits) };
}

/** All runtime ids that belong to a record. */
export function idsOf(record: TaskRecord): string[] {
  return [...record.containers, ...record.leftovers].map(({ runtimeId }) => runtimeId);
}
