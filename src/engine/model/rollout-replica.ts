/** Decides when a new replica works, counts as good, or has failed. Pure. */
import type { RolloutPolicy } from "../spec/index.ts";
import { hasSucceeded, readinessOf } from "./readiness.ts";
import { type Reason, reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import { restartsOf } from "./rollout-begin.ts";
import type { Deciding } from "./rollout-steps.ts";
import type { ReplicaRecord, RolloutKind } from "./service.ts";
import { works } from "./shared-proxy.ts";
import { after, hasPassed, type Instant } from "./time.ts";

export interface Observing {
  readonly kind: RolloutKind;
  readonly policy: RolloutPolicy;
  readonly deciding: Deciding;
}

/** What has become of a replica. The same object as before: nothing has. */
export function observedReplica(replica: ReplicaRecord, { kind, policy, deciding }: Observing): ReplicaRecord {
  const { now } = deciding.view;
  if (replica.state === "good" || replica.state === "failed" || replica.state === "left" || replica.task === null) return replica;
  const task = deciding.task(replica.task);
  const to = (state: ReplicaRecord["state"], change: Partial<ReplicaRecord> = {}): ReplicaRecord => {
    const next = { ...replica, state, since: now, ...change };
    if (state !== "starting") deciding.tell(state === "watched" ? "ready" : (state as "good"), next, next.reason ?? undefined);
    return next;
  };
  if (task === undefined) return to("left", { reason: reason("StoppedByUser", "its task was removed") });
  if (replica.state === "waiting") return replica;
  if (task.desired === "STOPPED" && task.reason?.code === "StoppedByUser") return to("left", { reason: task.reason });
  // Nothing is lost when a service that was not there before needs some tries.
  const mayRestart = policy.monitor === 0 || kind === "create";
  const why = failureOf(task, replica, policy, mayRestart, now);
  if (why !== undefined) return to("failed", { reason: why, readySince: null });
  const restarts = restartsOf(task);
  const isWorking = works(task) || hasSucceeded(task);
  if (restarts !== replica.restarts || !isWorking) {
    if (replica.state === "starting")
      return replica.readySince === null && restarts === replica.restarts ? replica : { ...replica, readySince: null, restarts };
    return to("starting", { readySince: null, restarts, since: replica.since });
  }
  const readySince = replica.readySince ?? now;
  const ready = replica.readySince === null ? { ...replica, readySince } : replica;
  if (replica.state === "starting") return hasPassed(after(readySince, policy.minReady), now) ? to("watched", { readySince }) : ready;
  if (!hasPassed(after(readySince, policy.minReady + policy.monitor), now)) return ready;
  // Until now the old task could go on in the place of a new one that fails.
  for (const other of deciding.of(replica.name))
    if (other.id !== task.id) deciding.remove(other, reason("Replaced", `the task was replaced by ${task.id}`));
  return to("good", { readySince });
}

/** undefined: it has not failed. */
function failureOf(
  task: TaskRecord,
  { since, restarts, name }: ReplicaRecord,
  { readyWithin }: RolloutPolicy,
  mayRestart: boolean,
  now: Instant,
): Reason | undefined {
  const failed = (text: string, cause?: Reason | null) => reason("ReplicaFailed", `replica ${name} ${text}`, cause ?? undefined);
  const { state, why } = readinessOf(task);
  if (state === "failed") return failed("has ended", task.reason ?? task.containers.find((one) => one.reason !== null)?.reason);
  const sick = task.containers.find(({ health }) => health?.status === "UNHEALTHY");
  if (sick !== undefined && !mayRestart) return failed(`is not healthy: container ${sick.name}`);
  const ended = task.containers.find((one) => one.restarts > (one.askedRestarts ?? 0));
  if (!mayRestart && restartsOf(task) > restarts && ended !== undefined) {
    const code = ended.exit?.code;
    return failed(`has ended, and was started again: container ${ended.name}${code == null ? "" : ` exited with ${code}`}`, ended.reason);
  }
  if (works(task) || hasSucceeded(task) || !hasPassed(after(since, readyWithin), now)) return undefined;
  return failed(`did not work within ${readyWithin / 1000} s: ${why}`);
}
