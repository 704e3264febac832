/** The public view of a task. It has no environment and nothing else that callers with read access may not see. */
import type { Progress } from "../images/index.ts";
import {
  type AgentRecord,
  agentsOf,
  type ContainerExit,
  type ContainerRecord,
  type HealthStatus,
  type HostCapacity,
  type ImageRecord,
  ledgerOf,
  nextRunMs,
  overcommitments,
  type PullPhase,
  type Readiness,
  readinessOf,
  renderFailedCheck,
  renderReason,
  runsOf,
  type ScheduledRun,
  type TaskRecord,
} from "../model/index.ts";
import { claimText } from "../spec/index.ts";
import type { Drain } from "./network/draining.ts";
import type { Paths } from "./paths.ts";

/** The image of a container. */
export interface ImageView {
  /** The reference in the task file. */
  readonly reference: string;
  /** The digest under which the source has the content. */
  readonly digest: string;
  readonly via: ImageRecord["via"];
}

export interface ContainerView {
  readonly name: string;
  /** namespacePause: the container that holds the namespaces which the others share. No task file names it. */
  readonly type: ContainerRecord["type"];
  readonly id: string;
  readonly generation: number;
  readonly desired: ContainerRecord["desired"];
  readonly known: ContainerRecord["known"];
  readonly restarts: number;
  /** Milliseconds since the epoch; null: not started yet. */
  readonly startedMs: number | null;
  readonly stoppedMs: number | null;
  readonly exit: ContainerExit | null;
  /** The earlier incarnation whose end `exit` is; null: it is the end of this one. */
  readonly lastRun: {
    readonly id: string;
    readonly startedMs: number | null;
    /** The check because of which it was ended, such as "liveness check 3 times in a row"; null: no check has ended it. */
    readonly failedCheck: string | null;
  } | null;
  /** It has ended, and the delay before its next start is not over. */
  readonly waitsForRestart: boolean;
  /** The state of its health check; null: it has none. */
  readonly health: HealthStatus | null;
  readonly reason: string | null;
  /** Why the container does not have the limits of its spec; null: it has them, or is about to get them. */
  readonly updateError: string | null;
  /** null: the container has no image, or it was not pulled yet. */
  readonly image: ImageView | null;
  /** How far the pull of its image is. Absent: nothing of it has come yet, or nothing is pulled. */
  readonly pull?: "pulling" | "unpacking" | undefined;
  /** How much of its image has come. Absent: as `pull`. */
  readonly pullProgress?: Progress | undefined;
  /** The agents that were started in the container. */
  readonly agents: readonly AgentRecord[];
  /** Path of the log on the daemon's host. */
  readonly log: string;
}

/** A schedule, and what it has started. Times are milliseconds since the epoch. */
export interface ScheduleView {
  readonly cron: string;
  /** null: that of the daemon. */
  readonly timeZone: string | null;
  readonly overlap: NonNullable<TaskRecord["spec"]["schedule"]>["overlap"];
  readonly suspended: boolean;
  /** null: never, or the schedule is suspended or stopped. */
  readonly nextMs: number | null;
  /** The time that was started last; null: none was. */
  readonly lastMs: number | null;
  /** The time that waits for the end of the run before; null: none does. */
  readonly heldMs: number | null;
  /** What goes on and what is kept, the oldest first. */
  readonly runs: readonly {
    readonly atMs: number;
    readonly state: ScheduledRun["state"];
    readonly tasks: readonly string[];
    /** When the last of its tasks has stopped; null: it goes on. */
    readonly endedMs: number | null;
  }[];
}

export interface LeftView {
  readonly of: string;
  /** Why the last attempt failed. */
  readonly message: string;
}

export interface TaskView {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly generation: number;
  readonly digest: string;
  /** The file, or the directory of the Compose project, that it was applied from; null: unknown. */
  readonly from: string | null;
  readonly desired: TaskRecord["desired"];
  readonly known: TaskRecord["known"];
  readonly admission: TaskRecord["admission"];
  /** What the task waits for before it can start; null: nothing. */
  readonly waiting: readonly string[] | null;
  readonly reason: string | null;
  readonly createdMs: number;
  /** Start of the first pull and end of the last one, in milliseconds since the epoch; null: nothing was pulled. */
  readonly pulls: { readonly startedMs: number; readonly stoppedMs: number | null } | null;
  /** Id of the task that this one replaces. */
  readonly replaces: string | null;
  /** Addresses in the task's networks, with prefix lengths; clients use the first one. Empty: the task has no network, or none at the moment. */
  readonly addresses: readonly string[];
  /** Why the task has only loopback in the place of its network (network.fallback). Absent: it has its network, or none at the moment. */
  readonly networkLacks?: string | undefined;
  /** Ports of the host that lead to the task, such as "0.0.0.0:8080->80/tcp". */
  readonly ports: readonly string[];
  /** Whether it has become what its spec says. */
  readonly readiness: Readiness;
  /** Connections of which the end is awaited before it is stopped. Absent: there are none. */
  readonly drain?: Drain | undefined;
  /** What could not be stopped or removed yet: a container, or a resource of the task. It is tried again. */
  readonly left: readonly LeftView[];
  /** Absent: it has none. A task with a schedule has no containers. */
  readonly schedule?: ScheduleView | undefined;
  /** Of a run of a schedule: the name of the task that has the schedule, and the time. Absent: it is none. */
  readonly run?: { readonly of: string; readonly atMs: number } | undefined;
  readonly containers: readonly ContainerView[];
}

/** The capacity that tasks have taken. */
export interface LedgerView {
  readonly cpus: { readonly capacity: number; readonly used: number };
  readonly memoryBytes: { readonly capacity: number; readonly used: number };
  /** Such as "8080/tcp". */
  readonly ports: readonly string[];
  /** Number of tasks that wait for capacity. */
  readonly waiting: number;
}

/** `overcommitted`: describes capacity that is taken and that the host lacks; "" if there is none. */
export function ledgerView(
  records: readonly TaskRecord[],
  configured: HostCapacity,
): { readonly ledger: LedgerView; readonly overcommitted: string } {
  const account = ledgerOf(records, configured);
  const { capacity, used } = account;
  return {
    ledger: {
      cpus: { capacity: capacity.cpuMillis / 1000, used: used.cpuMillis / 1000 },
      memoryBytes: { capacity: capacity.memoryBytes, used: used.memoryBytes },
      ports: [...new Set(used.ports.map(claimText))],
      waiting: records.filter(({ waiting }) => waiting !== null).length,
    },
    overcommitted: overcommitments(account).join("; "),
  };
}

/** @param all tasks of the host, in which the runs of a schedule are found. @param progressOf how far a pull for an incarnation is, by its runtime id */
export function viewOf(
  record: TaskRecord,
  paths: Paths,
  all: Iterable<TaskRecord> = [],
  progressOf: (runtimeId: string) => Progress | undefined = () => undefined,
): TaskView {
  const { id, group, name, generation, digest, desired, known, admission, waiting, reason, createdAt } = record;
  return {
    ...{ id, group, name, generation, digest, desired, known, admission },
    from: record.from ?? null,
    waiting: waiting?.missing ?? null,
    reason: reason && renderReason(reason),
    createdMs: createdAt.wallMs,
    pulls: record.pulls && { startedMs: record.pulls.startedAt.wallMs, stoppedMs: record.pulls.stoppedAt?.wallMs ?? null },
    replaces: record.replaces?.task ?? null,
    addresses: record.network?.addresses ?? [],
    ...(record.network?.lacks === undefined ? {} : { networkLacks: record.network.lacks }),
    ports: portsOf(record),
    readiness: readinessOf(record),
    left: [...notStoppedIn(record), ...notRemovedIn(record)],
    ...scheduleIn(record, all),
    ...(record.run === undefined ? {} : { run: record.run }),
    containers: record.containers.map((container) => ({
      name: container.name,
      type: container.type,
      id: container.runtimeId,
      generation: container.generation,
      desired: container.desired,
      known: container.known,
      restarts: container.restarts,
      startedMs: startOf(container),
      stoppedMs: endOf(container),
      exit: container.exit,
      lastRun: container.lastRun ? lastRunView(container.lastRun) : null,
      waitsForRestart: container.restartAt !== null && (container.known === "PULLED" || container.known === "NONE"),
      health: container.health?.status ?? null,
      reason: container.reason && renderReason(container.reason),
      updateError: container.update?.error ?? null,
      image: container.image && imageView(container.image),
      ...(container.pull && container.applied === "PULLED" ? pullIn(container.pull, progressOf(container.runtimeId)) : {}),
      agents: agentsOf(container),
      log: paths.log(id, container.runtimeId),
    })),
  };
}

function pullIn(pull: PullPhase, progress: Progress | undefined): Pick<ContainerView, "pull" | "pullProgress"> {
  return { pull, ...(progress && { pullProgress: progress }) };
}

function scheduleIn(record: TaskRecord, all: Iterable<TaskRecord>): Pick<TaskView, "schedule"> {
  const { spec, scheduled } = record;
  if (spec.schedule === undefined) return {};
  const { cron, timeZone = null, overlap, suspended } = spec.schedule;
  const runs = runsOf(record, all).map(({ atMs, state, tasks }) => {
    const ends = tasks.map(({ stoppedAt }) => stoppedAt?.wallMs ?? 0);
    return { atMs, state, tasks: tasks.map(({ name }) => name), endedMs: state === "active" ? null : Math.max(...ends) };
  });
  const times = { nextMs: nextRunMs(record, Date.now()) ?? null, lastMs: scheduled?.startedMs ?? null, heldMs: scheduled?.heldMs ?? null };
  return { schedule: { cron, timeZone, overlap, suspended, ...times, runs } };
}

/** Containers of which processes may run that could not be ended yet. */
export function notStoppedIn({ containers }: Pick<TaskRecord, "containers">): LeftView[] {
  const running = ({ known, isUnsure }: ContainerRecord) => known !== "STOPPED" || isUnsure;
  return containers.filter(running).flatMap(({ name, stop }) => leftBy(name, stop));
}

/** Ended containers, and resources, that could not be removed yet. */
export function notRemovedIn({ leftovers, resources }: Pick<TaskRecord, "leftovers" | "resources">): LeftView[] {
  return [...leftovers.flatMap((one) => leftBy(one.container, one)), ...resources.flatMap((one) => leftBy(one.name, one))];
}

function leftBy(of: string, { error }: { readonly error?: string }): LeftView[] {
  return error === undefined ? [] : [{ of, message: error }];
}

/** The daemon may learn of a start after the program has ended, whose end has the time of the kernel. */
function startOf(container: ContainerRecord): number | null {
  const started = container.startedAt?.wallMs ?? null;
  const ended = container.lastRun ? null : endOf(container);
  return started === null || ended === null ? started : Math.min(started, ended);
}

/** When it ended, as its monitor has recorded it. The daemon learns of that later, if it was not running at that time. */
function endOf({ exit, lastRun, stoppedAt }: ContainerRecord): number | null {
  if (!stoppedAt) return null;
  return exit === null || exit.unknown || lastRun ? stoppedAt.wallMs : exit.endedWallMs;
}

function lastRunView({ runtimeId, startedWallMs, failedCheck }: NonNullable<ContainerRecord["lastRun"]>): ContainerView["lastRun"] {
  return { id: runtimeId, startedMs: startedWallMs, failedCheck: failedCheck ? renderFailedCheck(failedCheck) : null };
}

/** As `docker ps` shows them. */
function portsOf({ spec }: TaskRecord): string[] {
  if (spec.schedule !== undefined) return [];
  return (spec.network?.ports ?? []).map((port) => {
    const { address = "0.0.0.0", container, host = container, protocol } = port;
    return `${address.includes(":") ? `[${address}]` : address}:${host}->${container}/${protocol}`;
  });
}

function imageView({ reference, digest, via }: ImageRecord): ImageView {
  return { reference, digest, via };
}
