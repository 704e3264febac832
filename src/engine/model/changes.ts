/** Events for subscribers: the difference between two records. */
import { appliedShares, type ContainerSpec } from "../spec/index.ts";
import { CHECK_KINDS, type CheckKind } from "./checks.ts";
import type { Reason } from "./reason.ts";
import {
  type AgentRecord,
  type ContainerExit,
  type ContainerRecord,
  type HealthStatus,
  type ImageRecord,
  type PullPhase,
  type PullSize,
  specOf,
  type TaskRecord,
} from "./record.ts";
import type { ContainerStatus, ResourceStatus, TaskStatus } from "./status.ts";

export type Change =
  | { readonly type: "task"; readonly known: TaskStatus; readonly desired: TaskRecord["desired"]; readonly reason: Reason | null }
  | { readonly type: "waiting"; readonly missing: readonly string[] }
  /** Capacity of the host was given to the task. */
  | { readonly type: "admitted" }
  | {
      readonly type: "container";
      readonly container: string;
      readonly generation: number;
      readonly known: ContainerStatus;
      readonly exit: ContainerExit | null;
      readonly reason: Reason | null;
      /** The container was created with another value than its spec has: the kernel does not take that one. */
      readonly adjusted?: { readonly cpuShares: { readonly asked: number; readonly applied: number } } | undefined;
    }
  /** The image of a container was determined. usingCachedDigest: the source failed because of `error`, and the image already in the store is used. */
  | {
      readonly type: "image";
      readonly container: string;
      readonly generation: number;
      readonly reference: string;
      readonly digest: string;
      readonly via: ImageRecord["via"];
      readonly error: string | null;
    }
  /** How far the pull of its image is. */
  | {
      readonly type: "pull";
      readonly container: string;
      readonly generation: number;
      readonly phase: PullPhase;
      readonly reference: string;
      /** Of the whole image. Absent: its source does not say. */
      readonly size?: PullSize | undefined;
    }
  | { readonly type: "health"; readonly container: string; readonly generation: number; readonly status: HealthStatus }
  /** The state of a further check has changed. */
  | {
      readonly type: "check";
      readonly check: Exclude<CheckKind, "health">;
      readonly container: string;
      readonly generation: number;
      readonly status: HealthStatus;
    }
  /** An agent was started or has ended. */
  | ({ readonly type: "agent"; readonly container: string; readonly generation: number; readonly agent: string } & Omit<
      AgentRecord,
      "name"
    >)
  | { readonly type: "resource"; readonly resource: string; readonly known: ResourceStatus }
  /** The records of a container that runs are gone or damaged. It is stopped. */
  | { readonly type: "lost"; readonly container: string; readonly generation: number; readonly message: string }
  /** Something could not be stopped or removed for the first time. It is tried again. `of`: a container, or a resource of the task. */
  | { readonly type: "left"; readonly of: string; readonly message: string }
  /** Stopping a container has failed so often that an operator must intervene. */
  | { readonly type: "alarm"; readonly container: string; readonly failures: number };

const FURTHER_CHECKS = CHECK_KINDS.filter((kind) => kind !== "health");

/** `before` undefined: the task is new. */
export function changesBetween(before: TaskRecord | undefined, now: TaskRecord, stopTries: number): Change[] {
  const { known, desired, reason, waiting, admission } = now;
  return [
    ...(before?.admission === "waiting" && admission === "admitted" ? [{ type: "admitted" } as const] : []),
    ...now.resources.flatMap((one): Change[] => {
      const old = before?.resources.find(({ name }) => name === one.name)?.known ?? "NONE";
      return old === one.known ? [] : [{ type: "resource", resource: one.name, known: one.known }];
    }),
    ...now.resources.flatMap((one) =>
      leftBy(
        one.name,
        one,
        before?.resources.find(({ name }) => name === one.name),
      ),
    ),
    ...now.leftovers.flatMap((one) =>
      leftBy(
        one.container,
        one,
        before?.leftovers.find(({ runtimeId }) => runtimeId === one.runtimeId),
      ),
    ),
    ...now.containers.flatMap((one) =>
      containerChanges(
        before?.containers.find(({ name }) => name === one.name),
        one,
        stopTries,
        specOf(now, one.name),
      ),
    ),
    ...(waiting !== null && String(waiting.missing) !== String(before?.waiting?.missing)
      ? [{ type: "waiting", missing: waiting.missing } as const]
      : []),
    ...(before?.known !== known || before.desired !== desired ? [{ type: "task", known, desired, reason } as const] : []),
  ];
}

interface Attempts {
  readonly error?: string;
}

function leftBy(of: string, { error }: Attempts, before: Attempts | undefined): Change[] {
  return error !== undefined && before?.error === undefined ? [{ type: "left", of, message: error }] : [];
}

function containerChanges(
  before: ContainerRecord | undefined,
  now: ContainerRecord,
  stopTries: number,
  spec: ContainerSpec | undefined,
): Change[] {
  const { name, generation, known, exit, reason, health, stop, image } = now;
  const of = { container: name, generation };
  const changes: Change[] = [];
  if (image !== null && image !== before?.image) {
    const { reference, digest, via, pullError = null } = image;
    changes.push({ type: "image", ...of, reference, digest, via, error: pullError });
  }
  if (now.pull && now.pull !== before?.pull)
    changes.push({ type: "pull", ...of, phase: now.pull, reference: spec?.image ?? "", ...(now.pullSize && { size: now.pullSize }) });
  const isExitNew = exit !== null && exit !== before?.exit;
  if ((before?.known ?? "NONE") !== known || (before?.generation ?? 1) !== generation || isExitNew) {
    changes.push({ type: "container", ...of, known, exit, reason, ...(known === "CREATED" ? adjustmentOf(spec) : {}) });
  }
  if (health !== null && (before?.health?.status ?? "UNKNOWN") !== health.status)
    changes.push({ type: "health", ...of, status: health.status });
  for (const check of FURTHER_CHECKS) {
    const status = now[check]?.status ?? "UNKNOWN";
    if (status !== (before?.[check]?.status ?? "UNKNOWN")) changes.push({ type: "check", check, ...of, status });
  }
  for (const { name: agent, ...is } of now.agents ?? []) {
    const was = before?.generation === generation ? before.agents?.find((one) => one.name === agent) : undefined;
    if (was?.known !== is.known || was.restarts !== is.restarts) changes.push({ type: "agent", ...of, agent, ...is });
  }
  if (now.lost && !before?.lost) changes.push({ type: "lost", ...of, message: now.lost });
  changes.push(...leftBy(name, stop, before?.stop));
  if (stop.failures === stopTries && before?.stop.failures !== stopTries)
    changes.push({ type: "alarm", container: name, failures: stop.failures });
  return changes;
}

function adjustmentOf(spec: ContainerSpec | undefined): Pick<Extract<Change, { type: "container" }>, "adjusted"> {
  const asked = spec?.cpuShares;
  const applied = appliedShares({ cpuShares: asked });
  return asked === undefined || applied === undefined || asked === applied ? {} : { adjusted: { cpuShares: { asked, applied } } };
}
