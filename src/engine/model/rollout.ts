/**
 * Decides about the rollout of a service: which replica is replaced next, and when the rollout pauses, ends or goes back. Pure. The engine stores the record and what
 * follows from it in one transaction, so that a daemon that starts later goes on with the same rollout.
 */
import { collide, type RolloutPolicy, type TaskSpec } from "../spec/index.ts";
import { demandOf } from "./ledger.ts";
import { type Reason, reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import { begunIn, restartsOf } from "./rollout-begin.ts";
import { observedReplica } from "./rollout-replica.ts";
import { Deciding, type RolloutDecision, type RolloutView } from "./rollout-steps.ts";
import { changedRevision, isActive, policyOf, type ReplicaRecord, type RolloutRecord, type ServiceRecord } from "./service.ts";
import { works } from "./shared-proxy.ts";
import { after, type Deadline, hasPassed, type Instant } from "./time.ts";

/** Advances the rollout as far as the tasks allow it now. */
export function advanceRollout(service: ServiceRecord, view: RolloutView): RolloutDecision {
  const same = { service, steps: [], told: [] };
  const { rollout } = service;
  if (!isActive(rollout)) return same;
  const specs = view.specsOf(rollout.to);
  if (specs === undefined || specs.length === 0) return pausedBy(service, reason("RolloutFailed", "the specs of the revision are lost"));
  const deciding = new Deciding(service, view, specs);
  if (rollout.bootId !== view.now.bootId) return afterBoot(service, deciding);
  const policy = policyOf(rollout, specs);
  const observed = changedReplicas(service, (replica) => observedReplica(replica, { kind: rollout.kind, policy, deciding }));
  const next = decided(observed, policy, specs, deciding);
  return next === service ? same : { service: next, steps: deciding.steps, told: deciding.told };
}

/** After a reboot the host is to run what was good. */
function afterBoot(service: ServiceRecord, deciding: Deciding): RolloutDecision {
  const { now } = deciding.view;
  const { rollout } = service;
  const why = reason("HostRebooted", `the host was rebooted while ${service.name} was updated to revision ${rollout.to}`);
  const next =
    rollout.kind === "update" && rollout.from !== null
      ? begunIn(
          marked(service, "failed", why),
          { kind: "rollback", to: rollout.from, from: null, failed: rollout.to, reason: why },
          deciding,
        )
      : changedReplicas({ ...service, rollout: { ...rollout, bootId: now.bootId, nextAt: null } }, (replica) => {
          const task = deciding.task(replica.task);
          return { ...replica, since: now, readySince: null, restarts: task === undefined ? 0 : restartsOf(task) };
        });
  return { service: next, steps: deciding.steps, told: deciding.told };
}

function marked(service: ServiceRecord, verdict: "good" | "failed", why: Reason | null): ServiceRecord {
  return changedRevision(service, service.rollout.to, { verdict, reason: why });
}

function changedReplicas(service: ServiceRecord, change: (replica: ReplicaRecord) => ReplicaRecord): ServiceRecord {
  const replicas = service.rollout.replicas.map(change);
  const isSame = replicas.every((one, at) => one === service.rollout.replicas[at]) && replicas.length > 0;
  return isSame ? service : { ...service, rollout: { ...service.rollout, replicas } };
}

function decided(service: ServiceRecord, policy: RolloutPolicy, specs: readonly TaskSpec[], deciding: Deciding): ServiceRecord {
  const { rollout } = service;
  const failed = rollout.replicas.filter(({ state }) => state === "failed");
  const isTooMany = failed.length / rollout.replicas.length > policy.maxFailureRatio;
  if (isTooMany && rollout.state === "progressing" && rollout.kind !== "create" && policy.onFailure !== "continue")
    return stopped(service, policy, failed, deciding);
  if (rollout.replicas.every(({ state }) => state !== "waiting" && state !== "starting" && state !== "watched"))
    return ended(service, policy, isTooMany, deciding);
  if (rollout.state === "paused") return service;
  return replaced(withDelay(service, policy, deciding), policy, specs, deciding);
}

/** The chain of reasons: the version, its first replica that has failed, and why that was. */
function whyFailed({ name, rollout }: ServiceRecord, failed: readonly ReplicaRecord[]): Reason {
  const count = failed.length === 1 ? "a replica has" : `${failed.length} replicas have`;
  return reason("RolloutFailed", `revision ${rollout.to} of ${name} has failed: ${count} failed`, failed[0]?.reason ?? undefined);
}

function stopped(
  service: ServiceRecord,
  { onFailure }: RolloutPolicy,
  failed: readonly ReplicaRecord[],
  deciding: Deciding,
): ServiceRecord {
  const { rollout } = service;
  const why = whyFailed(service, failed);
  const bad = marked(service, "failed", why);
  const from = rollout.kind === "update" ? rollout.from : null;
  if (onFailure === "rollback" && from !== null && deciding.view.specsOf(from) !== undefined)
    return begunIn(bad, { kind: "rollback", to: from, from: null, failed: rollout.to, reason: why }, deciding);
  const text = onFailure === "rollback" && from === null ? "no earlier version was good: the rollout is paused" : "the rollout is paused";
  const paused = reason("RolloutFailed", text, why);
  deciding.tell("paused", undefined, paused);
  return { ...bad, rollout: { ...rollout, state: "paused", reason: paused } };
}

function pausedBy(service: ServiceRecord, why: Reason): RolloutDecision {
  if (service.rollout.state === "paused") return { service, steps: [], told: [] };
  const rollout: RolloutRecord = { ...service.rollout, state: "paused", reason: why };
  return { service: { ...service, rollout }, steps: [], told: [{ state: "paused", task: null, reason: why }] };
}

function ended(service: ServiceRecord, { partition = 0 }: RolloutPolicy, isTooMany: boolean, deciding: Deciding): ServiceRecord {
  const { rollout } = service;
  if (rollout.state === "paused") return service;
  const endedMs = deciding.view.now.wallMs;
  const failed = rollout.replicas.filter(({ state }) => state === "failed");
  const isNone = !rollout.replicas.some(({ state }) => state === "good");
  const isLeftOut = ({ state, index }: ReplicaRecord) => state === "left" && index < partition;
  if (isTooMany || (isNone && !rollout.replicas.every(isLeftOut))) {
    const why = failed.length > 0 ? whyFailed(service, failed) : reason("RolloutFailed", "none of its replicas has the new version");
    deciding.tell("incomplete", undefined, why);
    return { ...marked(service, "failed", why), rollout: { ...rollout, state: "failed", reason: why, endedMs } };
  }
  deciding.tell("complete");
  // A version that no replica runs has not shown that it works.
  return { ...(isNone ? service : marked(service, "good", null)), rollout: { ...rollout, state: "complete", endedMs } };
}

/** The next replica is replaced so long after one that is good. */
function withDelay(service: ServiceRecord, { delay }: RolloutPolicy, { told, view }: Deciding): ServiceRecord {
  if (delay === 0 || !told.some(({ state }) => state === "good")) return service;
  return { ...service, rollout: { ...service.rollout, nextAt: after(view.now, delay) } };
}

function replaced(service: ServiceRecord, policy: RolloutPolicy, specs: readonly TaskSpec[], deciding: Deciding): ServiceRecord {
  const { rollout } = service;
  const { now, newId } = deciding.view;
  if (rollout.nextAt !== null && !hasPassed(rollout.nextAt, now)) return service;
  const most = policy.parallelism === 0 ? rollout.replicas.length : policy.parallelism;
  const isMoving = ({ state }: ReplicaRecord) => state === "starting" || state === "watched";
  let free = most - rollout.replicas.filter(isMoving).length;
  const worksNow = ({ name }: ReplicaRecord) => deciding.of(name).some(works);
  const waiting = rollout.replicas.filter(({ state }) => state === "waiting");
  const byIndex = waiting.toSorted((a, b) => (policy.reverse ? b.index - a.index : a.index - b.index));
  const chosen = new Map<string, ReplicaRecord>();
  const specOf = new Map(specs.map((spec) => [spec.name, spec]));
  // What does not work is replaced first: nothing is lost by that.
  for (const replica of [...byIndex.filter((one) => !worksNow(one)), ...byIndex.filter(worksNow)]) {
    if (free <= 0) break;
    free--;
    const spec = specOf.get(replica.name)!;
    const tasks = deciding.of(replica.name);
    const current = tasks.findLast((one) => works(one) && one.id !== replica.unproven) ?? tasks.findLast(works) ?? tasks.at(-1);
    const id = newId(replica.name);
    // A new task that has failed is removed when it is tried again, and the old one goes on.
    for (const task of tasks) if (task !== current) deciding.remove(task, reason("Replaced", `the task was replaced by ${id}`));
    deciding.steps.push({ type: "replace", id, spec, current, order: orderOf(policy, spec, current) });
    const next: ReplicaRecord = { ...replica, state: "starting", task: id, since: now, readySince: null, restarts: 0 };
    chosen.set(replica.name, next);
    deciding.tell("replacing", next);
  }
  return changedReplicas(service, (replica) => chosen.get(replica.name) ?? replica);
}

/** Both can only run at the same time if they need no port of the host that they do not share. */
function orderOf({ order }: RolloutPolicy, spec: TaskSpec, current: TaskRecord | undefined): "stopFirst" | "startFirst" {
  if (current === undefined || order === "stop-first") return "stopFirst";
  const { ports } = demandOf(current);
  const isTaken = demandOf({ spec, group: current.group }).ports.some((port) => ports.some((one) => collide(one, port)));
  return isTaken ? "stopFirst" : "startFirst";
}

/** When the rollout must be looked at again, even if no task changes; null: it need not be. */
export function nextRolloutLook({ rollout }: ServiceRecord, specs: readonly TaskSpec[] | undefined, now: Instant): Deadline | null {
  if (!isActive(rollout) || specs === undefined || specs.length === 0) return null;
  const policy = policyOf(rollout, specs);
  const all = rollout.replicas.flatMap(({ state, since, readySince }): Deadline[] => {
    if (state !== "starting" && state !== "watched") return [];
    if (readySince === null) return [after(since, policy.readyWithin)];
    return [after(readySince, policy.minReady), after(readySince, policy.minReady + policy.monitor), after(since, policy.readyWithin)];
  });
  const open = [...all, ...(rollout.nextAt === null ? [] : [rollout.nextAt])].filter((one) => !hasPassed(one, now));
  return open.reduce<Deadline | null>((first, one) => (first === null || one.bootMs < first.bootMs ? one : first), null);
}

/** The time in which no daemon has looked proves nothing: a replica must work for the whole time again. */
export function watchedAgain(service: ServiceRecord, now: Instant): ServiceRecord {
  if (!isActive(service.rollout)) return service;
  return changedReplicas(service, (one) =>
    (one.state === "starting" || one.state === "watched") && one.readySince !== null ? { ...one, readySince: now } : one,
  );
}

/** Pauses the rollout: replicas that are being replaced go on, and no further one is. */
export function pauseRollout(service: ServiceRecord): ServiceRecord {
  const why = reason("StoppedByUser", "a user has paused it");
  return { ...service, rollout: { ...service.rollout, state: "paused", reason: why } };
}

/** Goes on with a paused rollout. Replicas that have failed are replaced once more. */
export function resumeRollout(service: ServiceRecord, now: Instant): ServiceRecord {
  const resumed = { ...service, rollout: { ...service.rollout, state: "progressing", reason: null, nextAt: null } as const };
  const markOf = ({ task }: ReplicaRecord) => (task === null ? {} : { unproven: task });
  return changedReplicas(resumed, (one) =>
    one.state === "failed" ? { ...one, state: "waiting", since: now, reason: null, ...markOf(one) } : one,
  );
}
