/** Gives a rollout that goes on or has stopped another number of replicas. Pure. */
import { reason } from "./reason.ts";
import { hasImages } from "./revision-images.ts";
import { isAs, restartsOf } from "./rollout-begin.ts";
import { Deciding, type RolloutDecision, type RolloutTold, type RolloutView } from "./rollout-steps.ts";
import type { ReplicaRecord, RolloutState, ServiceRecord } from "./service.ts";
import { works } from "./shared-proxy.ts";

const TOLD: Readonly<Record<RolloutState, RolloutTold["state"]>> = {
  progressing: "started",
  paused: "paused",
  failed: "incomplete",
  complete: "complete",
};

/**
 * The rollout leads to a version that differs from the one before only in the number of replicas. What it has reached stays: a rollout that goes on goes on with
 * the same replicas, and one that is paused or has failed stays so.
 * @param to number of the version. New replicas were added before: those with its spec are started, others wait as replicas of an earlier version do
 */
export function scaleRollout(service: ServiceRecord, to: number, view: RolloutView): RolloutDecision {
  const specs = view.specsOf(to) ?? [];
  const images = view.imagesOf(to);
  const deciding = new Deciding(service, view, specs);
  const { rollout } = service;
  const known = new Map(rollout.replicas.map((one) => [one.name, one]));
  const gone = reason("Replaced", `the service ${service.name} was given another number of replicas`);
  const replicas = specs.map((spec): ReplicaRecord => {
    const before = known.get(spec.name);
    if (before !== undefined) return before;
    const tasks = deciding.of(spec.name);
    const wanted = tasks.findLast((one) => isAs(one, spec) && hasImages(one, images));
    const kept = wanted ?? tasks.findLast(works) ?? tasks.at(-1);
    for (const task of tasks) if (task !== kept) deciding.remove(task, gone);
    return {
      name: spec.name,
      index: spec.replica?.index ?? 0,
      state: rollout.state === "failed" ? "left" : wanted === undefined ? "waiting" : "starting",
      task: kept?.id ?? null,
      since: view.now,
      readySince: null,
      restarts: wanted === undefined ? 0 : restartsOf(wanted),
      reason: null,
    };
  });
  deciding.tell(TOLD[rollout.state], undefined, rollout.reason ?? undefined);
  return { service: { ...service, rollout: { ...rollout, to, replicas } }, steps: deciding.steps, told: deciding.told };
}
