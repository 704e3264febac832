/** Lets the connections of a task end that takes part in no service any more, before it is stopped. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ReasonCode, TaskRecord } from "../../model/index.ts";
import { DEFAULT_DRAIN_MS } from "../../spec/index.ts";

/** A task whose connections are awaited. */
export interface Drain {
  /** Connections that have not ended; null: they cannot be counted, now or at all. */
  readonly connections: number | null;
  /** Milliseconds since the epoch: then it is stopped in any case. */
  readonly untilMs: number;
}

export interface DrainingOptions {
  /** Counts the connections of a task to these ports. It fails when nobody can say how many there are. */
  readonly count: (id: string, ports: ReadonlySet<number>) => Promise<number>;
  /** Whether its connections can be counted: those into a virtual machine cannot. */
  readonly isCountable: (record: TaskRecord) => boolean;
}

const LOOK_MS = 200;
/** A user who stops a task does not want to wait, and one that does not work has clients that should go elsewhere. */
const DRAINED_FOR: readonly ReasonCode[] = ["Replaced", "ScaledDown", "RolloutFailed"];

/** In milliseconds; 0: its connections are not awaited. Pure. */
export function drainOf({ spec, reason, containers }: TaskRecord): number {
  if (spec.update === undefined || reason === null || !DRAINED_FOR.includes(reason.code)) return 0;
  if (containers.some(({ health }) => health?.status === "UNHEALTHY")) return 0;
  return spec.update.drain ?? DEFAULT_DRAIN_MS;
}

/** Ports of the task to which services lead connections of TCP. Pure. */
export function drainedPorts({ spec: { network } }: TaskRecord): ReadonlySet<number> {
  const shared = network?.ports.filter(({ service, protocol }) => service !== undefined && protocol === "tcp") ?? [];
  const redirected = network?.services?.flatMap(({ ports }) => ports.filter(({ protocol }) => protocol === "tcp")) ?? [];
  return new Set([...shared.map(({ container }) => container), ...redirected.map(({ to }) => to)]);
}

export class Draining {
  readonly #options: DrainingOptions;
  /** By task id. A task is drained once, before the first of its containers is stopped. */
  readonly #tasks = new Map<string, { drain: Drain | undefined; readonly done: Promise<void> }>();

  constructor(options: DrainingOptions) {
    this.#options = options;
  }

  /** Resolves when its connections have ended, or the time is over. */
  drained(record: TaskRecord): Promise<void> {
    const known = this.#tasks.get(record.id);
    if (known !== undefined) return known.done;
    const one: { drain: Drain | undefined; done: Promise<void> } = { drain: undefined, done: Promise.resolve() };
    this.#tasks.set(record.id, one);
    one.done = this.#await(record, (drain) => {
      one.drain = drain;
    });
    return one.done;
  }

  /** undefined: its connections are not awaited now. */
  of(id: string): Drain | undefined {
    return this.#tasks.get(id)?.drain;
  }

  /** Forgets tasks that are gone. */
  retain(isThere: (id: string) => boolean): void {
    for (const id of this.#tasks.keys()) if (!isThere(id)) this.#tasks.delete(id);
  }

  async #await(record: TaskRecord, set: (drain: Drain | undefined) => void): Promise<void> {
    const forMs = drainOf(record);
    const ports = drainedPorts(record);
    if (forMs === 0 || ports.size === 0) return;
    const [end, untilMs] = [performance.now() + forMs, Date.now() + forMs];
    const isCountable = this.#options.isCountable(record);
    for (let left = forMs; left > 0; left = end - performance.now()) {
      const connections = isCountable ? await this.#options.count(record.id, ports).catch(() => null) : null;
      if (connections === 0) break;
      set({ connections, untilMs });
      await sleep(Math.min(LOOK_MS, left), undefined, { ref: false });
    }
    set(undefined);
  }
}
