/** Computes whether a dependency of a container is satisfied, may be satisfied later, or never will be. */
import { type Dependency, dependenciesOf, dependencyTarget } from "../spec/index.ts";
import { isStarting } from "./checks.ts";
import type { DecisionContext } from "./host.ts";
import { type Reason, reason } from "./reason.ts";
import { type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { hasReached } from "./status.ts";
import { after, type Deadline, hasPassed, type Instant } from "./time.ts";

/** A dependency that is not satisfied. `never`: the reason why it cannot be satisfied any more. */
export interface Unresolved {
  readonly dependency: Dependency;
  readonly never?: Reason;
}

export interface Place {
  readonly task: TaskRecord;
  readonly container: ContainerRecord;
}

/** The container that a dependency names. undefined: the task of that container does not exist yet. */
function targetOf(record: TaskRecord, dependency: Dependency, peers: readonly TaskRecord[]): Place | undefined {
  const named = dependencyTarget(record.name, dependency);
  const task = named.task === record.name ? record : peers.find(({ name }) => name === named.task);
  const container = task?.containers.find(({ name }) => name === named.container);
  return task === undefined || container === undefined ? undefined : { task, container };
}

type View = Pick<DecisionContext, "peers" | "succeeded">;

export function unresolved(record: TaskRecord, container: ContainerRecord, { peers, succeeded }: View, now: Instant): Unresolved[] {
  return dependenciesIn(record, container.name).flatMap((dependency) => {
    const target = targetOf(record, dependency, peers);
    if (target === undefined ? hasSucceeded(record, dependency, succeeded) : holds(dependency, target.container)) return [];
    const never = (target && whyNever(dependency, target)) ?? timedOut(dependency, container, now);
    return [never === undefined ? { dependency } : { dependency, never }];
  });
}

/** Empty for the pause container, which waits for nothing. */
export function dependenciesIn(record: TaskRecord, name: string): readonly Dependency[] {
  const spec = specOf(record, name);
  return spec === undefined ? [] : dependenciesOf(spec);
}

/** The times at which the container stops waiting for dependencies that have a timeout. */
export function dependencyDeadlines(record: TaskRecord, { name, blockedSince }: ContainerRecord): Deadline[] {
  if (blockedSince === null) return [];
  return dependenciesIn(record, name).flatMap(({ timeout }) => (timeout === undefined ? [] : [after(blockedSince, timeout)]));
}

/** A one-shot in `succeeded` was removed from the records; it has been created, has started and has exited with 0. */
function hasSucceeded(record: TaskRecord, dependency: Dependency, succeeded: readonly string[]): boolean {
  return dependency.condition !== "HEALTHY" && succeeded.includes(dependencyTarget(record.name, dependency).task);
}

function holds({ condition }: Dependency, container: ContainerRecord): boolean {
  const { known, startedAt, exit, health, isRestartAsked } = container;
  // It still runs, and is about to stop and to start again.
  if (isRestartAsked) return false;
  switch (condition) {
    case "CREATE":
      return startedAt !== null || (hasReached(known, "CREATED") && known !== "STOPPED");
    case "START":
      return startedAt !== null && !isStarting(container);
    case "SUCCESS":
      return known === "STOPPED" && exit?.code === 0;
    case "COMPLETE":
      return known === "STOPPED" && startedAt !== null;
    case "HEALTHY":
      return known !== "STOPPED" && hasReached(known, "RUNNING") && health?.status === "HEALTHY";
  }
}

/** Called for a dependency that is not satisfied. */
function whyNever({ condition, container: name }: Dependency, { task, container }: Place): Reason | undefined {
  const failed = (text: string, cause?: Reason | null) => reason("DependencyFailed", `${name} ${text}`, cause ?? undefined);
  if (condition === "HEALTHY" && container.health === null && !mayGetHealthCheck(task, container)) return failed("has no health check");
  if (container.known === "STOPPED") return failed(`has stopped and is not ${WORDS[condition]}`, container.reason);
  // A container that is being stopped will only reach SUCCESS or COMPLETE.
  const isEnding = container.desired === "STOPPED" || task.desired === "STOPPED";
  if (isEnding && condition !== "SUCCESS" && condition !== "COMPLETE")
    return failed(`is being stopped and is not ${WORDS[condition]}`, container.reason);
  return undefined;
}

/** The image, which was not pulled yet, may define a health check. */
function mayGetHealthCheck(task: TaskRecord, { name, image }: ContainerRecord): boolean {
  const spec = specOf(task, name);
  return image === null && spec?.image !== undefined && spec.imageHealthCheck !== false;
}

const WORDS = { CREATE: "created", START: "started", SUCCESS: "successful", COMPLETE: "complete", HEALTHY: "healthy" } as const;

function timedOut({ timeout, container, condition }: Dependency, { blockedSince }: ContainerRecord, now: Instant): Reason | undefined {
  if (timeout === undefined || blockedSince === null || !hasPassed(after(blockedSince, timeout), now)) return undefined;
  return reason("DependencyTimeout", `${container} was not ${WORDS[condition]} within ${timeout} ms`);
}
