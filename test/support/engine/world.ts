/** A runtime made of plain data, for properties of the engine's decisions: what really runs, whatever a record says. */
import {
  type Action,
  type ContainerExit,
  DEFAULT_OPTIONS,
  type Instant,
  nextDeadline,
  type Observation,
  type Reconciled,
  reconcileAll,
  type TaskEvent,
  type TaskRecord,
} from "../../../src/engine/model/index.ts";

export type Life = "created" | "running" | "exited";
export interface Incarnation {
  life: Life;
  exit: ContainerExit | undefined;
}
/** How an action goes. lost: it had its effect, and the caller hears of a time-out; failed: it had none. */
export type Outcome = "ok" | "failed" | "lost" | "notDone";

export function exitOf(code: number): ContainerExit {
  return { code, signal: null, oomKilled: false, unknown: false, endedWallMs: 0 };
}

/** Called after each decision with the number of events it was made on. */
export type Watch = (before: TaskRecord, now: Reconciled, world: World, events: number) => void;

export class World {
  readonly incarnations = new Map<string, Incarnation>();
  readonly resources = new Set<string>();
  /** Limits that running incarnations have in the kernel: of memory. */
  readonly limits = new Map<string, number | undefined>();
  pending: Action[] = [];
  readonly #asked = new WeakMap<Action, number | undefined>();
  isForgotten = false;
  /** Runtime ids that have ever run. */
  readonly started = new Set<string>();
  /** What was told before: it may come again, late. */
  readonly told: TaskEvent[] = [];
  readonly #watch: Watch;
  record: TaskRecord;
  bootId = "boot-0";
  bootMs = 0;
  #boots = 0;

  constructor(record: TaskRecord, watch: Watch) {
    this.record = record;
    this.#watch = watch;
  }

  get now(): Instant {
    return { bootId: this.bootId, bootMs: this.bootMs, wallMs: this.bootMs };
  }

  send(...events: TaskEvent[]): void {
    if (this.isForgotten) return;
    const before = this.record;
    const next = reconcileAll(before, events, { options: DEFAULT_OPTIONS, peers: [], replaced: [], succeeded: [] });
    this.record = next.record;
    this.#watch(before, next, this, events.length);
    this.told.push(...events.filter(({ type }) => type === "observed" || type === "result"));
    for (const action of next.actions) if ("container" in action) this.#asked.set(action, memoryOf(next.record, action.container));
    this.pending.push(...next.actions.filter(({ type }) => type !== "forget"));
    this.isForgotten ||= next.actions.some(({ type }) => type === "forget");
  }

  isAlive(runtimeId: string): boolean {
    const life = this.incarnations.get(runtimeId)?.life;
    return life === "created" || life === "running";
  }

  /** Ends the action: with an effect in the world, and its result as an event. */
  finish(index: number, outcome: Outcome): void {
    const [action] = this.pending.splice(index, 1);
    if (action === undefined) return;
    if (outcome === "ok" || outcome === "lost") this.effect(action);
    const error = outcome === "ok" ? {} : { error: { message: outcome, isOutcomeUnknown: outcome !== "failed" } };
    const at = this.now;
    switch (action.type) {
      case "createResource":
      case "removeResource":
        this.send({ type: "resource", at, name: action.name, target: action.type === "createResource" ? "CREATED" : "REMOVED", ...error });
        break;
      case "remove":
        this.send({ type: "removed", at, container: action.container, generation: action.generation, ...error });
        break;
      case "checkHealth":
        this.send({
          type: "health",
          check: action.kind,
          at,
          container: action.container,
          generation: action.generation,
          isHealthy: outcome === "ok",
          output: "",
        });
        break;
      case "preStop":
        this.send({ type: "preStopped", at, container: action.container, generation: action.generation });
        break;
      case "update":
        this.send({ type: "updated", at, container: action.container, generation: action.generation, ...error });
        break;
      case "forget":
        break;
      default: {
        const exit = this.incarnations.get(action.runtimeId)?.exit;
        const ended = action.type === "stop" && outcome === "ok" && exit !== undefined ? { exit } : {};
        const { container, generation } = action;
        this.send({ type: "result", at, container, generation, target: TARGETS[action.type], ...error, ...ended });
      }
    }
  }

  effect(action: Action): void {
    if (action.type === "createResource") this.resources.add(action.name);
    else if (action.type === "removeResource") this.resources.delete(action.name);
    else if (action.type === "create") this.incarnations.set(action.runtimeId, { life: "created", exit: undefined });
    else if (action.type === "remove") this.incarnations.delete(action.runtimeId);
    else if (action.type === "start") this.#start(action);
    else if (action.type === "update") this.#limit(action);
    else if (action.type === "stop") this.#kill(action.runtimeId, exitOf(143));
  }

  #start(action: OfContainer): void {
    const { runtimeId } = action;
    const one = this.incarnations.get(runtimeId);
    // It may have been killed from outside while it waited.
    if (one?.life !== "created") return;
    this.#limit(action);
    one.life = "running";
    this.started.add(runtimeId);
  }

  /** As the spec has said when it was decided. */
  #limit(action: OfContainer): void {
    this.limits.set(action.runtimeId, this.#asked.get(action));
  }

  /** The user applies other limits of memory. */
  respec(memory: number): void {
    if (this.record.desired === "STOPPED") return;
    const { spec } = this.record;
    const next = { ...spec, containers: spec.containers.map((one) => ({ ...one, memory })) };
    this.send({ type: "respec", at: this.now, spec: next, digest: `memory ${memory}` });
  }

  #kill(runtimeId: string, exit: ContainerExit): void {
    const one = this.incarnations.get(runtimeId);
    if (one === undefined || one.life === "exited") return;
    one.life = "exited";
    one.exit = exit;
  }

  /** A container's program ends by itself. `isSeen`: the engine hears of it. */
  exit(name: string, code: number, isSeen: boolean): void {
    const container = this.record.containers.find((one) => one.name === name);
    if (container === undefined || this.incarnations.get(container.runtimeId)?.life !== "running") return;
    this.#kill(container.runtimeId, exitOf(code));
    if (!isSeen) return;
    const observation: Observation = { state: "exited", exit: exitOf(code) };
    this.send({ type: "observed", at: this.now, container: name, generation: container.generation, observation });
  }

  /** The daemon dies: of what was in flight, some had its effect. The next one looks everything up. */
  crash(hadEffect: (index: number) => boolean): void {
    this.pending.forEach((action, index) => {
      if (hadEffect(index)) this.effect(action);
    });
    this.pending = [];
    const at = this.now;
    this.send(
      { type: "fenced", at },
      ...this.record.containers.map(({ name: container, generation, runtimeId }): TaskEvent => {
        return { type: "lookedUp", at, container, generation, observation: this.#look(runtimeId) };
      }),
    );
  }

  /** The power is cut: exits that were recorded before are found, the processes are gone. */
  reboot(): void {
    this.pending = [];
    const exits: Record<string, ContainerExit> = {};
    for (const [id, { life, exit }] of this.incarnations) if (life === "exited" && exit !== undefined) exits[id] = exit;
    this.incarnations.clear();
    this.#boots++;
    this.bootId = `boot-${this.#boots}`;
    this.bootMs = 0;
    this.send({ type: "booted", at: this.now, exits });
    this.send({ type: "admitted", at: this.now });
  }

  #look(runtimeId: string): Observation {
    const found = this.incarnations.get(runtimeId);
    if (found === undefined) return { state: "absent" };
    return found.life === "exited" ? { state: "exited", exit: found.exit! } : { state: found.life };
  }

  /** Time goes on to the next deadline. @returns whether there was one */
  wait(): boolean {
    const next = nextDeadline(this.record, this.now);
    if (next === null) return false;
    this.bootMs = next.bootMs;
    this.send({ type: "tick", at: this.now });
    return true;
  }
}

const TARGETS = { pull: "PULLED", create: "CREATED", start: "RUNNING", stop: "STOPPED" } as const;

type OfContainer = Extract<Action, { readonly runtimeId: string }>;

function memoryOf({ spec }: TaskRecord, name: string): number | undefined {
  return spec.containers.find((one) => one.name === name)?.memory;
}
