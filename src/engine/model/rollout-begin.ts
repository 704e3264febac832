/** Begins a rollout: finds out which replicas have the wanted version already. Pure. */
import { specDigest, type TaskSpec } from "../spec/index.ts";
import { type Reason, reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import { hasImages } from "./revision-images.ts";
import { Deciding, type RolloutDecision, type RolloutView } from "./rollout-steps.ts";
import { policyOf, type ReplicaRecord, type RolloutKind, type RolloutRecord, type ServiceRecord } from "./service.ts";
import { works } from "./shared-proxy.ts";

export interface Begin {
  readonly kind: RolloutKind;
  readonly to: number;
  readonly from: number | null;
  readonly failed?: number;
  readonly reason?: Reason;
}

/**
 * Begins a rollout in the place of the one before. What runs already with the wanted spec stays. Of two tasks of a replica the one goes on that has shown
 * that it works; both do if the other one is wanted, and is still to show it.
 */
export function beginRollout(service: ServiceRecord, begin: Begin, view: RolloutView): RolloutDecision {
  const deciding = new Deciding(service, view, view.specsOf(begin.to) ?? []);
  const begun = begunIn(service, begin, deciding);
  return { service: begun, steps: deciding.steps, told: deciding.told };
}

export function begunIn(service: ServiceRecord, { reason: why, ...begin }: Begin, deciding: Deciding): ServiceRecord {
  const { now, specsOf, imagesOf } = deciding.view;
  const images = imagesOf(begin.to);
  const specs = specsOf(begin.to) ?? [];
  const gone = why ?? reason("Replaced", `the rollout of ${service.name} to revision ${begin.to} has begun`);
  const partition = specs.length === 0 ? 0 : (policyOf(begin, specs).partition ?? 0);
  const hasLaterVersion = begin.kind === "rollback" ? laterThan(begin.to, service, deciding) : () => false;
  const known = new Map(service.rollout.replicas.map((one) => [one.name, one]));
  const replicas = specs.map((spec): ReplicaRecord => {
    const before = known.get(spec.name);
    const isBefore = (task: TaskRecord | undefined, ...states: ReplicaRecord["state"][]) =>
      before !== undefined && before.task === task?.id && states.includes(before.state);
    // What a rollback starts is a version that was good: it is preferred as soon as clients may reach it.
    const isUnproven = (task: TaskRecord) =>
      before?.unproven === task.id ||
      isBefore(task, "starting", "failed") ||
      (service.rollout.kind !== "rollback" && isBefore(task, "watched"));
    const tasks = deciding.of(spec.name);
    const isWanted = (one: TaskRecord) => isAs(one, spec) && hasImages(one, images) && !isBefore(one, "failed");
    const wanted = begin.kind === "restart" ? undefined : tasks.findLast(isWanted);
    const isObserved = isBefore(wanted, "starting", "watched");
    const kept = wanted ?? tasks.findLast((one) => works(one) && !isUnproven(one)) ?? tasks.findLast(works) ?? tasks.at(-1);
    const older = isObserved ? tasks.findLast((one) => one !== wanted && works(one)) : undefined;
    for (const task of tasks) if (task !== kept && task !== older) deciding.remove(task, gone);
    const place = { name: spec.name, index: spec.replica?.index ?? 0, task: kept?.id ?? null };
    // The time before a reboot of the host proves nothing.
    if (isObserved && service.rollout.bootId === now.bootId) return { ...before!, ...place };
    const fresh = { ...place, since: now, readySince: null, reason: null };
    if (wanted !== undefined) {
      const isGood = begin.kind !== "create" && works(wanted) && !isObserved && before?.unproven !== wanted.id;
      return { ...fresh, state: isGood ? "good" : "starting", restarts: restartsOf(wanted) };
    }
    const isStopped = begin.kind === "restart" && kept?.desired === "STOPPED";
    const isLeft = isStopped || (kept !== undefined && place.index < partition && !hasLaterVersion(kept));
    const unproven = kept !== undefined && isUnproven(kept) ? { unproven: kept.id } : {};
    return { ...fresh, state: isLeft ? "left" : "waiting", restarts: 0, ...unproven };
  });
  if (begin.failed !== undefined) {
    const names = new Set(specs.map(({ name }) => name));
    for (const spec of specsOf(begin.failed) ?? [])
      if (!names.has(spec.name)) for (const task of deciding.of(spec.name)) deciding.remove(task, gone);
  }
  const rollout: RolloutRecord = {
    ...begin,
    state: "progressing",
    reason: why ?? null,
    bootId: now.bootId,
    begunMs: now.wallMs,
    endedMs: null,
    nextAt: null,
    replicas,
  };
  deciding.tell(begin.kind === "rollback" ? "rolling-back" : "started", undefined, why);
  return { ...service, rollout };
}

export function isAs(task: TaskRecord, spec: TaskSpec): boolean {
  return task.desired === "RUNNING" && versionDigest(task.spec) === versionDigest(spec);
}

/** Returns whether a task has a version that came after this one. */
function laterThan(number: number, { revisions }: ServiceRecord, { view }: Deciding): (task: TaskRecord) => boolean {
  const later = revisions
    .filter((one) => one.number > number)
    .map((one) => ({
      specs: new Map((view.specsOf(one.number) ?? []).map((spec) => [spec.name, spec])),
      images: view.imagesOf(one.number),
    }));
  return (task) =>
    later.some(({ specs, images }) => {
      const spec = specs.get(task.name);
      return spec !== undefined && versionDigest(spec) === versionDigest(task.spec) && hasImages(task, images);
    });
}

const VERSION_DIGESTS = new WeakMap<TaskSpec, string>();

/** How a task is replaced is no part of what runs. */
function versionDigest(spec: TaskSpec): string {
  const known = VERSION_DIGESTS.get(spec);
  if (known !== undefined) return known;
  const { update: _, rollback: __, replica: ___, ...version } = spec;
  const digest = specDigest(version);
  VERSION_DIGESTS.set(spec, digest);
  return digest;
}

/** Those that no user has asked for. */
export function restartsOf({ containers }: TaskRecord): number {
  return containers.reduce((sum, one) => sum + one.restarts - (one.askedRestarts ?? 0), 0);
}
