/** Begins a rollout: finds out which replicas have the wanted version already. Pure. */
import { specDigest, type TaskSpec } from "../spec/index.ts";
import { type Reason, reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import { hasImages } from "./revision-images.ts";
import { Deciding, type RolloutDecision, type RolloutView } from "./rollout-steps.ts";
import type { ReplicaRecord, RolloutKind, RolloutRecord, ServiceRecord } from "./service.ts";
import { works } from "./shared-proxy.ts";

export interface Begin {
  readonly kind: RolloutKind;
  readonly to: number;
  readonly from: number | null;
  readonly failed?: number;
  readonly reason?: Reason;
}

/** Begins a rollout in the place of the one before. What runs already with the wanted spec stays; of two tasks of a replica only one goes on. */
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
  const replicas = specs.map((spec): ReplicaRecord => {
    const tasks = deciding.of(spec.name);
    const wanted = begin.kind === "restart" ? undefined : tasks.findLast((one) => isAs(one, spec) && hasImages(one, images));
    const kept = wanted ?? tasks.findLast(works) ?? tasks.at(-1);
    for (const task of tasks) if (task !== kept) deciding.remove(task, gone);
    const isLeft = begin.kind === "restart" && kept !== undefined && kept.desired === "STOPPED";
    return {
      name: spec.name,
      index: spec.replica?.index ?? 0,
      state: isLeft ? "left" : wanted === undefined ? "waiting" : begin.kind === "create" || !works(wanted) ? "starting" : "good",
      task: kept?.id ?? null,
      since: now,
      readySince: null,
      restarts: wanted === undefined ? 0 : restartsOf(wanted),
      reason: null,
    };
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

function isAs(task: TaskRecord, spec: TaskSpec): boolean {
  return task.desired === "RUNNING" && versionDigest(task.spec) === versionDigest(spec);
}

/** How a task is replaced is no part of what runs. */
function versionDigest(spec: TaskSpec): string {
  const { update: _, rollback: __, replica: ___, ...version } = spec;
  return specDigest(version);
}

/** Those that no user has asked for. */
export function restartsOf({ containers }: TaskRecord): number {
  return containers.reduce((sum, one) => sum + one.restarts - (one.askedRestarts ?? 0), 0);
}
