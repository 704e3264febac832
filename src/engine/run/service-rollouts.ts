/** Services for callers: their versions, their rollouts, and what may be asked of these. */
import {
  lastGood,
  pauseRollout,
  type ReplicaState,
  type RevisionNote,
  type RevisionRecord,
  type RolloutRecord,
  type RolloutState,
  renderReason,
  resumeRollout,
  revisionKey,
  type ServiceRecord,
  serviceKey,
} from "../model/index.ts";
import type { TaskSpec } from "../spec/index.ts";
import type { AutoUpdate } from "./auto-update.ts";
import { systemClock } from "./clock.ts";
import type { Commands } from "./desired/commands.ts";
import type { Edits } from "./desired/edits.ts";
import type { Caller } from "./desired/journal.ts";
import { EngineError, unknownService } from "./errors.ts";

/** What a container of a version runs. */
export interface RevisionImage {
  /** Name of the container in the first replica. */
  readonly container: string;
  /** The reference in its spec. */
  readonly reference: string;
  /** null: no replica has pulled it yet, or an earlier program wrote the version. */
  readonly digest: string | null;
}

/** A version of a service. Times are milliseconds since the epoch. */
export interface RevisionView {
  readonly revision: number;
  readonly cause: RevisionNote["cause"];
  /** Of `undo`: the version that it repeats; null: it repeats none. */
  readonly of: number | null;
  /** Who has asked for it; null: unknown. */
  readonly by: Caller | null;
  readonly atMs: number;
  /** Fields that differ from the version before, as JSON pointers without values. */
  readonly changed: readonly string[];
  /** Of the containers that have an image. */
  readonly images: readonly RevisionImage[];
  readonly verdict: RevisionNote["verdict"];
  /** Why it has failed; null: it has not. */
  readonly reason: string | null;
}

export interface ReplicaView {
  readonly name: string;
  readonly index: number;
  readonly state: ReplicaState;
  /** Id of its task; null: there is none. */
  readonly task: string | null;
  /** Why it has failed; null: it has not. */
  readonly reason: string | null;
}

/** A service with the rollout that goes on, or the last one. */
export interface ServiceView {
  readonly group: string;
  readonly name: string;
  /** The version to which the rollout leads, or has led. */
  readonly revision: number;
  readonly kind: RolloutRecord["kind"];
  readonly state: RolloutState;
  /** The version from which a rollback returns; null: it is no rollback. */
  readonly failed: number | null;
  readonly reason: string | null;
  readonly begunMs: number;
  /** null: it goes on. */
  readonly endedMs: number | null;
  readonly replicas: readonly ReplicaView[];
  /** The oldest first, at most ten. */
  readonly history: readonly RevisionView[];
}

export interface ServiceRolloutsOptions {
  readonly services: ReadonlyMap<string, ServiceRecord>;
  readonly revisions: ReadonlyMap<string, RevisionRecord>;
  readonly edits: Edits;
  readonly autoUpdate: AutoUpdate;
}

/** Requests about the rollouts of services. */
export class ServiceRollouts {
  readonly #options: ServiceRolloutsOptions;

  constructor(options: ServiceRolloutsOptions) {
    this.#options = options;
  }

  /** Updates of images whose tags have moved. */
  get updates(): AutoUpdate {
    return this.#options.autoUpdate;
  }

  /** By group and name. */
  list(): ServiceView[] {
    return [...this.#options.services].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, service]) => this.#view(service));
  }

  /** @throws EngineError unknown-service */
  get(name: string, group: string): ServiceView {
    return this.#view(found(this.#options.services.get(serviceKey({ group, name })), name, group));
  }

  /**
   * Returns to an earlier version, by a rollout of its own. `revision` undefined: the last good one before the current one.
   * Returns the number of the new version. @throws EngineError unknown-service, unknown-revision, nothing-to-roll-back, no-room; StoreError not-written
   */
  async undo(name: string, group: string, revision: number | undefined, by?: Caller): Promise<number> {
    return this.#change(name, group, by, (commands, service) => {
      const { rollout } = service;
      // A return that was given another number of replicas has a version of its own, which can be undone.
      const isReturn = rollout.kind === "rollback" && (rollout.failed ?? 0) > rollout.to;
      const to = revision ?? (isReturn ? null : lastGood(service, rollout.to));
      if (to === null) throw new EngineError("nothing-to-roll-back", `no earlier revision of ${name} was good`, { name });
      if (to === rollout.to) throw new EngineError("nothing-to-roll-back", `revision ${to} of ${name} is the current one`, { name });
      const images = commands.services.imagesOf(service)(to);
      const specs = this.#specs(commands, service, to);
      return commands.services.roll({ group, name, specs, cause: "undo", of: to, images, isStale: true });
    });
  }

  /** Replaces each replica by one with the same spec. Returns the number of the new version. @throws EngineError unknown-service, unknown-revision, no-room; StoreError not-written */
  async restart(name: string, group: string, by?: Caller): Promise<number> {
    return this.#change(name, group, by, (commands, service) => {
      const specs = this.#specs(commands, service, service.rollout.to);
      return commands.services.roll({ group, name, specs, cause: "restart", isForced: true });
    });
  }

  /** Gives the service so many replicas; a rollout that is paused or has failed stays so. Returns the number of the new version. @throws EngineError unknown-service, not-scalable, no-room; StoreError not-written */
  async scale(name: string, group: string, replicas: number, by?: Caller): Promise<number> {
    return this.#change(name, group, by, (commands, service) => commands.services.scale(service, replicas));
  }

  /** No further replica is replaced. @throws EngineError unknown-service, not-rolling; StoreError not-written */
  async pause(name: string, group: string, by?: Caller): Promise<number> {
    return this.#change(name, group, by, (commands, service) => {
      if (service.rollout.state !== "progressing") throw notRolling(name, "goes on");
      commands.services.change(pauseRollout(service), "paused");
      return service.rollout.to;
    });
  }

  /** A paused rollout goes on; replicas that have failed are tried again. @throws EngineError unknown-service, not-rolling, no-room; StoreError not-written */
  async resume(name: string, group: string, by?: Caller): Promise<number> {
    return this.#change(name, group, by, (commands, service) => {
      if (service.rollout.state !== "paused") throw notRolling(name, "is paused");
      commands.services.change(resumeRollout(service, systemClock.now()), "resumed");
      return service.rollout.to;
    });
  }

  #view(service: ServiceRecord): ServiceView {
    const { group, name } = service;
    return viewOf(service, (number) => this.#options.revisions.get(revisionKey({ group, service: name, number })));
  }

  #change(
    name: string,
    group: string,
    by: Caller | undefined,
    change: (commands: Commands, service: ServiceRecord) => number,
  ): Promise<number> {
    return this.#options.edits.make(by, (commands) => change(commands, found(commands.services.get({ group, name }), name, group)));
  }

  /** @throws EngineError unknown-revision */
  #specs(commands: Commands, service: ServiceRecord, number: number): readonly TaskSpec[] {
    const specs = commands.services.specsOf(service)(number);
    if (specs !== undefined) return specs;
    const known = service.revisions.map((one) => one.number);
    throw new EngineError("unknown-revision", `there is no revision ${number} of ${service.name}: known are ${known.join(", ")}`, {
      known,
    });
  }
}

function found(service: ServiceRecord | undefined, name: string, group: string): ServiceRecord {
  if (service !== undefined) return service;
  throw unknownService(name, group);
}

function notRolling(name: string, what: string): EngineError {
  return new EngineError("not-rolling", `no rollout of ${name} ${what}`, { name });
}

function viewOf({ group, name, rollout, revisions }: ServiceRecord, recordOf: (number: number) => RevisionRecord | undefined): ServiceView {
  const { to: revision, kind, state, failed = null, reason, begunMs, endedMs, replicas } = rollout;
  return {
    ...{ group, name, revision, kind, state, failed, begunMs, endedMs },
    reason: reason && renderReason(reason),
    replicas: replicas.map((one) => ({
      name: one.name,
      index: one.index,
      state: one.state,
      task: one.task,
      reason: one.reason && renderReason(one.reason),
    })),
    history: revisions.map((one) => ({
      revision: one.number,
      cause: one.cause,
      of: one.of ?? null,
      by: one.by ?? null,
      atMs: one.atMs,
      changed: one.changed,
      images: imagesIn(recordOf(one.number)),
      verdict: one.verdict,
      reason: one.reason && renderReason(one.reason),
    })),
  };
}

function imagesIn(record: RevisionRecord | undefined): RevisionImage[] {
  return (record?.specs[0]?.containers ?? []).flatMap(({ name: container, image: reference }) =>
    reference === undefined ? [] : [{ container, reference, digest: record?.images?.[reference]?.digest ?? null }],
  );
}
