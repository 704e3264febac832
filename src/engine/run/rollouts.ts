/** Goes on with the rollouts of services when tasks change or time passes. */
import {
  advanceRollout,
  type ImagesOf,
  isActive,
  nextRolloutLook,
  type RevisionRecord,
  type RolloutView,
  revisionKey,
  type ServiceRecord,
  type SpecsOf,
  type TaskRecord,
} from "../model/index.ts";
import { replicaOf } from "../spec/index.ts";
import { Alarm, type Clock } from "./clock.ts";
import type { Edits } from "./desired/edits.ts";
import type { EngineLog } from "./log.ts";

export interface RolloutsOptions {
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly services: ReadonlyMap<string, ServiceRecord>;
  readonly revisions: ReadonlyMap<string, RevisionRecord>;
  readonly edits: Pick<Edits, "make">;
  readonly clock: Clock;
  readonly log: EngineLog;
}

const RETRY_MS = 10_000;

export class Rollouts {
  readonly #options: RolloutsOptions;
  readonly #alarm = new Alarm(() => this.refresh());
  /** Keys of the services for which something is being recorded. */
  readonly #busy = new Set<string>();
  /** Until when a service waits after an error, in milliseconds of CLOCK_BOOTTIME. */
  readonly #waits = new Map<string, number>();
  #isStarted = false;
  #isStopped = false;

  constructor(options: RolloutsOptions) {
    this.#options = options;
  }

  /** Called when it is known what has become of all tasks. */
  start(): void {
    void this.#begin();
  }

  async #begin(): Promise<void> {
    const { edits, services, log } = this.#options;
    try {
      if ([...services.values()].some(({ rollout }) => isActive(rollout)))
        await edits.make(undefined, (commands) => commands.services.watchAgain());
    } catch (error) {
      log("error", "rollout-failed", { message: String(error) });
    }
    this.#isStarted = !this.#isStopped;
    this.refresh();
  }

  stop(): void {
    this.#isStopped = true;
    this.#isStarted = false;
    this.#alarm.set(undefined);
  }

  /** Called after each change. */
  refresh(): void {
    const { services, records, clock } = this.#options;
    if (!this.#isStarted || services.size === 0) return;
    const now = clock.now();
    const tasks = [...records.values()];
    const there = new Set(tasks.flatMap(({ group, spec }) => `${group}/${replicaOf(spec)?.service}`));
    let next: number | undefined;
    for (const [key, service] of services) {
      const waits = this.#waits.get(key);
      if (waits !== undefined && waits > now.bootMs) {
        next = Math.min(next ?? waits, waits);
        continue;
      }
      this.#waits.delete(key);
      if (!there.has(key)) this.#carryOut(key, "forget");
      else if (isActive(service.rollout)) {
        const specsOf = this.#specsOf(service);
        const view: RolloutView = { tasks, now, specsOf, imagesOf: this.#imagesOf(service), newId: (name) => name };
        if (advanceRollout(service, view).service !== service) this.#carryOut(key, "advance");
        const look = nextRolloutLook(service, specsOf(service.rollout.to), now)?.bootMs;
        if (look !== undefined) next = Math.min(next ?? look, look);
      }
    }
    this.#alarm.set(next === undefined ? undefined : next - now.bootMs);
  }

  #specsOf({ group, name }: ServiceRecord): SpecsOf {
    return (number) => this.#options.revisions.get(revisionKey({ group, service: name, number }))?.specs;
  }

  #imagesOf({ group, name }: ServiceRecord): ImagesOf {
    return (number) => this.#options.revisions.get(revisionKey({ group, service: name, number }))?.images;
  }

  #carryOut(key: string, what: "advance" | "forget"): void {
    if (this.#busy.has(key)) return;
    this.#busy.add(key);
    void this.#record(key, what);
  }

  async #record(key: string, what: "advance" | "forget"): Promise<void> {
    const { edits, log, clock } = this.#options;
    try {
      await edits.make(undefined, ({ services }) => services[what](key));
    } catch (error) {
      // Such as a disk that is full, or users of which none are left.
      log("error", "rollout-failed", { service: key, message: String(error) });
      this.#waits.set(key, clock.now().bootMs + RETRY_MS);
    } finally {
      this.#busy.delete(key);
      this.refresh();
    }
  }
}
