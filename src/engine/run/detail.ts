/** The detailed view of a task: its spec, and why it is in its state. Pure. */
import {
  type ContainerRecord,
  dependenciesIn,
  type FailedCheck,
  type HealthRecord,
  type Readiness,
  type Reason,
  readinessOf,
  renderFailedCheck,
  type TaskRecord,
  USERS_OF_A_TASK,
  type UserRange,
} from "../model/index.ts";
import type { TaskSpec } from "../spec/index.ts";

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
  /** The check because of which its last run was ended. Absent: no check has ended it. */
  readonly failedCheck?: { readonly check: string; readonly output: string | null } | undefined;
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
  /** The spec as applied, with every default filled in. Values that are not shown are null (withoutValues). */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly resources: readonly { readonly name: string; readonly known: string }[];
  /** Ids of the host that are 0 and up in its containers (spec.privateUsers). Absent: it has the users of the host. */
  readonly users?: UserRange | undefined;
  readonly containers: readonly ContainerDetail[];
}

export interface DetailOptions {
  /** For callers that may only read: leave out whatever may be a secret: values of the spec (withoutValues), output of health checks, and end messages. */
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
    containers: containers.map(({ name, reason: why, health, postStart, startup, liveness, lastRun, endMessage }) => ({
      name,
      reason: why,
      health: health && checkDetail(health, isRedacted),
      ...(postStart && { postStart: checkDetail(postStart, isRedacted) }),
      ...(startup && { startup: checkDetail(startup, isRedacted) }),
      ...(liveness && { liveness: checkDetail(liveness, isRedacted) }),
      ...(lastRun?.failedCheck && { failedCheck: failedCheckDetail(lastRun.failedCheck, isRedacted) }),
      dependsOn: dependenciesIn(record, name).map(({ container, condition }) => `${condition} of ${container}`),
      ...(endMessage === undefined ? {} : { endMessage: isRedacted ? null : endMessage }),
    })),
  };
}

function checkDetail({ status, sinceWallMs, failures, output }: HealthRecord, isRedacted: boolean): CheckDetail {
  return { status, sinceMs: sinceWallMs ?? null, failures, output: isRedacted ? null : output };
}

function failedCheckDetail(failed: FailedCheck, isRedacted: boolean): NonNullable<ContainerDetail["failedCheck"]> {
  return { check: renderFailedCheck(failed), output: isRedacted ? null : failed.output };
}

// The spec of a task for callers that may only read. What a user may have put a secret into is
// null: it is recognised by the name of its field, wherever the field is, so that a further check,
// hook or agent is covered.

/** Maps whose names are shown and whose values are not. `options`: of a log; those of resolv.conf are a list. */
const MAPS = new Set(["env", "annotations", "headers", "options", "files"]);
/** Lists with a program and its arguments: the program is shown. */
const COMMANDS = new Set(["command", "exec"]);

export function withoutValues(spec: TaskSpec): Readonly<Record<string, unknown>> {
  return fieldsOf(spec);
}

function fieldsOf(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(name, value)]));
}

function shown(name: string, value: unknown): unknown {
  // The whole text that a schedule was made from.
  if (name === "document") return null;
  if (Array.isArray(value)) {
    if (name === "args") return value.map(() => null);
    if (COMMANDS.has(name)) return value.map((word, index) => (index === 0 ? word : null));
    return value.map((one) => shown("", one));
  }
  if (typeof value !== "object" || value === null) return value;
  if (MAPS.has(name)) return Object.fromEntries(Object.keys(value).map((key) => [key, null]));
  // The options may have a password in them.
  if (name === "filesystem") return { ...value, options: null };
  // The path of a request may have a key in it.
  return name === "http" ? { ...fieldsOf(value), path: null } : fieldsOf(value);
}
