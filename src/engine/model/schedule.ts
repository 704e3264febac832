/** Decides when a task with a schedule runs, as the controller of Kubernetes does for a CronJob: what was missed runs once. */
import { Cron } from "croner";
import { dependencyTarget, rhythmOf, runTime, type ScheduleSpec, type TaskSpec } from "../spec/index.ts";
import { hasSucceeded } from "./readiness.ts";
import type { TaskRecord } from "./record.ts";

/**
 * started: its runs were made. missed: it could not start in the time that the schedule allows. held: it waits for the end of the run before. taken: another task has the name.
 * reset: the clock was set back, and the schedule counts from now on.
 */
export type ScheduleState = "started" | "missed" | "held" | "taken" | "reset";

/** In milliseconds. Clocks are set back by so much without a run being missed or made twice: the schedule waits. */
const MOST_AHEAD = 600_000;

export interface ScheduleDecision {
  /** What becomes of the time that is due; undefined: none is due, or it waits on. */
  readonly due?: { readonly atMs: number; readonly state: ScheduleState };
  /** Ids of the tasks that are removed: those that go on when the next run takes their place, and those of the history. */
  readonly remove: readonly string[];
}

/** All tasks that one time of the schedule has made. */
export interface ScheduledRun {
  readonly atMs: number;
  readonly tasks: readonly TaskRecord[];
  readonly state: "active" | "succeeded" | "failed";
}

/** The first time behind this one; undefined: there is none. */
export function nextTimeMs({ cron, timeZone }: ScheduleSpec, afterMs: number): number | undefined {
  const rhythm = rhythmOf(cron);
  if ("everyMs" in rhythm) return afterMs + rhythm.everyMs;
  return patternOf(rhythm.pattern, timeZone).nextRun(new Date(afterMs))?.getTime();
}

/** The last time behind `afterMs` and not behind `nowMs`; undefined: there is none. */
export function lastTimeMs({ cron, timeZone }: ScheduleSpec, afterMs: number, nowMs: number): number | undefined {
  const rhythm = rhythmOf(cron);
  if ("everyMs" in rhythm) {
    const times = Math.floor((nowMs - afterMs) / rhythm.everyMs);
    return times < 1 ? undefined : afterMs + times * rhythm.everyMs;
  }
  // The library looks before a time, and counts in seconds.
  const [last] = patternOf(rhythm.pattern, timeZone).previousRuns(1, new Date(Math.floor(nowMs / 1000) * 1000 + 1000));
  return last === undefined || last.getTime() <= afterMs ? undefined : last.getTime();
}

function patternOf(pattern: string, timezone: string | undefined): Cron {
  return new Cron(pattern, { paused: true, ...(timezone === undefined ? {} : { timezone }) });
}

/** The runs of a task with a schedule, the oldest first. What is being removed does not count. */
export function runsOf({ group, name }: Pick<TaskRecord, "group" | "name">, records: Iterable<TaskRecord>): ScheduledRun[] {
  const byTime = new Map<number, TaskRecord[]>();
  for (const record of records) {
    if (record.run?.of !== name || record.group !== group || record.isDeleteAsked) continue;
    const others = byTime.get(record.run.atMs);
    if (others === undefined) byTime.set(record.run.atMs, [record]);
    else others.push(record);
  }
  return [...byTime].sort(([a], [b]) => a - b).map(([atMs, tasks]) => ({ atMs, tasks, state: stateOf(tasks) }));
}

function stateOf(tasks: readonly TaskRecord[]): ScheduledRun["state"] {
  if (tasks.some(({ known }) => known !== "STOPPED")) return "active";
  return tasks.every(hasSucceeded) ? "succeeded" : "failed";
}

/** When the schedule has been looked at last: the times up to then are decided. */
function decidedMs({ scheduled, createdAt, spec: { schedule } }: TaskRecord, nowMs: number): number {
  const { decidedMs: own = createdAt.wallMs, beforeResetMs } = scheduled ?? {};
  if (schedule === undefined || beforeResetMs === undefined || nowMs < beforeResetMs) return own;
  // The clock was not set back, but behind when the host started, and is right again. Where it has passed that time step by step, nothing lies between.
  const next = nextTimeMs(schedule, own);
  return next !== undefined && next <= beforeResetMs ? beforeResetMs : own;
}

/** What the record of the task keeps when a time of its schedule is decided on. */
export function scheduledAfter(
  { scheduled, createdAt }: Pick<TaskRecord, "scheduled" | "createdAt">,
  { atMs, state }: NonNullable<ScheduleDecision["due"]>,
): NonNullable<TaskRecord["scheduled"]> {
  const { heldMs: _, ...before } = scheduled ?? { decidedMs: createdAt.wallMs };
  if (state === "held") return { ...before, heldMs: atMs };
  const { beforeResetMs = -Infinity, ...others } = before;
  const latest = state === "reset" ? Math.max(beforeResetMs, before.decidedMs) : beforeResetMs;
  return {
    ...others,
    decidedMs: atMs,
    ...(latest > atMs ? { beforeResetMs: latest } : {}),
    ...(state === "started" ? { startedMs: atMs } : {}),
  };
}

/** Source: Kubernetes, pkg/controller/cronjob, syncCronJob. @param records all tasks of the host */
export function decideSchedule(record: TaskRecord, records: readonly TaskRecord[], nowMs: number): ScheduleDecision {
  const { schedule } = record.spec;
  if (schedule === undefined || record.desired === "STOPPED") return { remove: [] };
  const runs = runsOf(record, records);
  const old = [...beyond(runs, "succeeded", schedule.keepSucceeded), ...beyond(runs, "failed", schedule.keepFailed)];
  if (schedule.suspended) return { remove: old };
  // A clock that was wrong at the last look, or when the task was made: no time would be behind that one for years.
  const decided = decidedMs(record, nowMs);
  if (decided > nowMs + MOST_AHEAD) return { due: { atMs: nowMs, state: "reset" }, remove: old };
  const atMs = lastTimeMs(schedule, decided, nowMs);
  if (atMs === undefined) return { remove: old };
  if (schedule.startWithin !== undefined && atMs + schedule.startWithin < nowMs) return { due: { atMs, state: "missed" }, remove: old };
  const active = runs.filter(({ state }) => state === "active");
  if (schedule.overlap === "forbid" && active.length > 0) {
    const isTold = record.scheduled?.heldMs === atMs;
    return { ...(isTold ? {} : { due: { atMs, state: "held" } }), remove: old };
  }
  const names = new Set(namesOf(record.name, schedule, atMs));
  const isTaken = records.some((one) => one.group === record.group && names.has(one.name) && !one.isDeleteAsked);
  if (isTaken) return { due: { atMs, state: "taken" }, remove: old };
  const replaced = schedule.overlap === "replace" ? active.flatMap(idsOf) : [];
  return { due: { atMs, state: "started" }, remove: [...replaced, ...old] };
}

/** Ids of the oldest runs in this state, without those that are kept. */
function beyond(runs: readonly ScheduledRun[], state: ScheduledRun["state"], kept: number): string[] {
  const all = runs.filter((one) => one.state === state);
  return all.slice(0, Math.max(0, all.length - kept)).flatMap(idsOf);
}

function idsOf({ tasks }: ScheduledRun): string[] {
  return tasks.map(({ id }) => id);
}

/** The next time of the schedule; undefined: there is none, or it is suspended or stopped. */
export function nextRunMs(record: TaskRecord, nowMs: number): number | undefined {
  const { schedule } = record.spec;
  if (schedule === undefined || schedule.suspended || record.desired === "STOPPED") return undefined;
  const isEvery = "everyMs" in rhythmOf(schedule.cron);
  // The times of "@every" are counted from the last one, not from now.
  const decided = decidedMs(record, nowMs);
  const base = isEvery ? (lastTimeMs(schedule, decided, nowMs) ?? decided) : nowMs;
  return nextTimeMs(schedule, base);
}

/** When the schedule has to be looked at again; undefined: when a task of it changes. */
export function nextLookMs(record: TaskRecord, nowMs: number): number | undefined {
  const { startWithin } = record.spec.schedule ?? {};
  const { heldMs } = record.scheduled ?? {};
  const next = nextRunMs(record, nowMs);
  const late = heldMs === undefined || startWithin === undefined ? undefined : heldMs + startWithin + 1;
  if (late === undefined || late <= nowMs) return next;
  return Math.min(late, next ?? late);
}

/** The names of the tasks of one run. */
function namesOf(name: string, { cron, copies }: ScheduleSpec, atMs: number): string[] {
  const time = runTime(cron, atMs);
  return Array.from({ length: copies }, (_, index) => `${name}-${time}-${index}`);
}

/** The tasks of one run. */
export function runSpecs({ spec }: TaskRecord, atMs: number): TaskSpec[] {
  const { schedule, ...rest } = spec;
  if (schedule === undefined) return [];
  const { cron, copies, atOnce = copies, placeholders } = schedule;
  const time = runTime(cron, atMs);
  const names = namesOf(spec.name, schedule, atMs);
  return names.map((name, index): TaskSpec => {
    const own = placeholders === undefined ? rest : filled(rest, placeholders, time, index);
    return { ...(index < atOnce ? own : behind(own, spec, names[index - atOnce]!)), name, remember: false };
  });
}

/** The name of a pod ends with the placeholder of its run and "-0". */
function filled<T>(value: T, { minutes: text, index: number }: NonNullable<ScheduleSpec["placeholders"]>, time: string, index: number): T {
  const written = JSON.stringify(value).replaceAll(`${text}-0`, `${time}-${index}`).replaceAll(text, time);
  return JSON.parse(written.replaceAll(number, String(index))) as T;
}

/** It begins when the containers of the task before it have succeeded. */
function behind(own: Omit<TaskSpec, "schedule">, { name, containers }: TaskSpec, before: string): Omit<TaskSpec, "schedule"> {
  const essential = containers.filter((one) => one.essential);
  const after = essential.map((one) => ({ container: `${before}/${one.name}`, condition: "SUCCESS" as const }));
  const isFirst = ({ dependsOn }: TaskSpec["containers"][number]) => !dependsOn.some((one) => dependencyTarget(name, one).task === name);
  return {
    ...own,
    containers: own.containers.map((one) => (isFirst(one) ? { ...one, dependsOn: [...one.dependsOn, ...after] } : one)),
  };
}
