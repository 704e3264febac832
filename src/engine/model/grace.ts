/** Computes how long a container may take to end after its stop signal. */
import type { DecisionContext } from "./host.ts";
import { type ContainerRecord, specOf, type TaskRecord } from "./record.ts";

/** The kubelet's minimum for a container whose preStop hook has used up the time to stop. */
const LEAST_MS = 2000;

/** The time before the preStop hook is subtracted from it. A container that is stopped because a check has failed may have a time of that check. */
export function wholeGraceMs(record: TaskRecord, container: ContainerRecord, { options }: DecisionContext): number {
  const spec = specOf(record, container.name);
  // The pause container handles no signals.
  if (spec === undefined) return 0;
  const failed = (["startup", "liveness"] as const).find((kind) => container[kind]?.status === "UNHEALTHY");
  const ofCheck = record.desired === "STOPPED" || failed === undefined ? undefined : spec[`${failed}Check`]?.stopTimeout;
  return ofCheck ?? spec.stopTimeout ?? options.stopTimeoutMs;
}

export function graceMs(record: TaskRecord, container: ContainerRecord, host: DecisionContext): number {
  const whole = wholeGraceMs(record, container, host);
  const isPart = specOf(record, container.name)?.preStop?.withinStopTimeout === true;
  const tookMs = container.preStopRun?.tookMs ?? null;
  return isPart && tookMs !== null ? Math.max(LEAST_MS, whole - tookMs) : whole;
}
