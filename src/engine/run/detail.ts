/** The detailed view of a task: its spec, and why it is in its state. Pure. */
import {
  type ContainerRecord,
  dependenciesIn,
  type HealthRecord,
  type Readiness,
  type Reason,
  readinessOf,
  type TaskRecord,
  USERS_OF_A_TASK,
  type UserRange,
} from "../model/index.ts";
import { withoutValues } from "./redacted.ts";

export interface CheckDetail {
  readonly status: HealthRecord["status"];
  /** When it got its current state; null: it has never changed. */
  readonly sinceMs: number | null;
  /** Number of consecutive failures. */
  readonly failures: number;
  readonly output: string | null;
}

export interface ContainerDetail {
  readonly name: string;
  readonly reason: Reason | null;
  /** null: the container has no health check. `output`: the end of the last check's output; null if it is not shown. */
  readonly health: CheckDetail | null;
  /** Its `postStart` hook, startup check and liveness check, if it has them. */
  readonly postStart?: CheckDetail | undefined;
  readonly startup?: CheckDetail | undefined;
  readonly liveness?: CheckDetail | undefined;
  /** Its dependencies on other containers, such as "START of db". */
  readonly dependsOn: readonly string[];
  /** Message of its last end (spec.endMessage). null: it is redacted; absent: there is none. */
  readonly endMessage?: string | null | undefined;
}

export interface TaskDetail {
  readonly id: string;
  readonly reason: Reason | null;
  /** Whether it has become what its spec says. */
  readonly readiness: Readiness;
  /** The spec as applied, with every default filled in. Values that are not shown are null (redacted.ts). */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly resources: readonly { readonly name: string; readonly known: string }[];
  /** Ids of the host that are 0 and up in its containers (spec.privateUsers). Absent: it has the users of the host. */
  readonly users?: UserRange | undefined;
  readonly containers: readonly ContainerDetail[];
}

export interface DetailOptions {
  /** For callers that may only read: leave out whatever may be a secret: values of the spec (redacted.ts), output of health checks, and end messages. */
  readonly isRedacted: boolean;
}

/** @param endMessageOf the message of a container's last end */
export function detailOf(
  record: TaskRecord,
  { isRedacted }: DetailOptions,
  endMessageOf: (container: ContainerRecord) => string | undefined = () => undefined,
): TaskDetail {
  const { id, reason, spec, resources } = record;
  const containers = record.containers.map((container) => ({ ...container, endMessage: endMessageOf(container) }));
  return {
    id,
    reason,
    readiness: readinessOf(record),
    spec: isRedacted ? withoutValues(spec) : { ...spec },
    resources: resources.map(({ name, known }) => ({ name, known })),
    ...(record.users && { users: { first: record.users.first, count: USERS_OF_A_TASK } }),
    containers: containers.map(({ name, reason: why, health, postStart, startup, liveness, endMessage }) => ({
      name,
      reason: why,
      health: health && checkDetail(health, isRedacted),
      ...(postStart && { postStart: checkDetail(postStart, isRedacted) }),
      ...(startup && { startup: checkDetail(startup, isRedacted) }),
      ...(liveness && { liveness: checkDetail(liveness, isRedacted) }),
      dependsOn: dependenciesIn(record, name).map(({ container, condition }) => `${condition} of ${container}`),
      ...(endMessage === undefined ? {} : { endMessage: isRedacted ? null : endMessage }),
    })),
  };
}

function checkDetail({ status, sinceWallMs, failures, output }: HealthRecord, isRedacted: boolean): CheckDetail {
  return { status, sinceMs: sinceWallMs ?? null, failures, output: isRedacted ? null : output };
}
