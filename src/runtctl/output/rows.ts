/** Converts tasks to rows of a table. */
import type { ContainerView, OrphanView, ScheduleView, TaskView } from "../../engine/index.ts";
import { progressText } from "./bar.ts";
import { printable, type Style, stateStyle } from "./style.ts";
import { age } from "./table.ts";

export interface Columns {
  /** Whether there are also columns for exit status, generation and id. */
  readonly isWide: boolean;
  /** Whether the first column is the group. */
  readonly hasGroups?: boolean;
}

export interface RowOptions extends Columns {
  readonly nowMs: number;
  /** Whether the row is from an earlier answer, because no daemon answers now. */
  readonly isUnknown?: boolean;
}

export function headerOf({ isWide, hasGroups = false }: Columns): readonly string[] {
  const further = isWide ? ["EXIT", "GENERATION", "ID"] : [];
  const usual = ["TASK", "CONTAINER", "STATE", "READY", "HEALTH", "RESTARTS", "AGE", "PORTS"];
  return [...(hasGroups ? ["GROUP"] : []), ...usual, ...further, "REASON"];
}

/** One row for each container, or for the schedule of a task that has one. */
export function rowsOf(task: TaskView, { isWide, hasGroups = false, nowMs, isUnknown = false }: RowOptions): string[][] {
  if (task.schedule !== undefined) {
    return [
      [
        ...(hasGroups ? [task.group] : []),
        ...[task.name, "-", isUnknown ? "UNKNOWN" : scheduleState(task, task.schedule)],
        ...["-", "-", "-", age(nowMs - task.createdMs), "-"],
        ...(isWide ? ["-", "-", printable(task.id)] : []),
        isUnknown ? "no daemon answers" : (task.reason ?? scheduleText(task.schedule, nowMs)),
      ],
    ];
  }
  return task.containers.map((container) => [
    ...(hasGroups ? [task.group] : []),
    task.name,
    printable(container.name),
    isUnknown ? "UNKNOWN" : stateOf(task, container),
    isUnknown ? "-" : readyOf(task, container),
    isUnknown ? "-" : healthOf(container),
    String(container.restarts),
    container.startedMs === null ? "-" : age(nowMs - container.startedMs),
    portsOf(task),
    ...(isWide ? [exitCodeOf(container), String(container.generation), printable(container.id)] : []),
    isUnknown ? "no daemon answers" : printable(reasonOf(task, container)),
  ]);
}

/** Row of an orphan: a container without a record in the store, so that the other cells stay empty. */
export function orphanRow(
  { id, group, name, container, generation, isRunning }: OrphanView,
  { isWide, hasGroups = false }: Columns,
): string[] {
  return [
    ...(hasGroups ? [printable(group ?? "-")] : []),
    printable(name ?? "-"),
    printable(container ?? "-"),
    "ORPHAN",
    ...["-", "-", "-", "-", "-"],
    ...(isWide ? ["-", String(generation ?? "-"), printable(id)] : []),
    `the store does not know it, and it ${isRunning ? "runs" : "has ended"}`,
  ];
}

/** Colours the cells of the column with the state. */
export function styled(style: Style, { hasGroups = false }: Columns): (cell: string, column: number) => string {
  const state = hasGroups ? 3 : 2;
  return (cell, column) => (column === state ? style(stateStyle(cell.trim()), cell) : cell);
}

/** The state that kubectl shows for a container that is restarted again and again. */
const CRASH_LOOP = "CrashLoopBackOff";

/** What a user is told of a container's state. */
export function stateOf({ waiting, pulls }: TaskView, { known, waitsForRestart, image, pull }: ContainerView): string {
  if (waiting !== null) return "WAITING";
  if (waitsForRestart) return CRASH_LOOP;
  if (pull === "unpacking") return "UNPACKING";
  return known === "NONE" && image === null && pulls !== null && pulls.stoppedMs === null ? "PULLING" : known;
}

function scheduleState({ known, desired }: TaskView, { suspended }: ScheduleView): string {
  if (desired === "STOPPED") return known;
  return suspended ? "SUSPENDED" : "SCHEDULED";
}

/** Such as "0 3 * * *, next in 5h, last 19h ago, 1 active". */
function scheduleText({ cron, timeZone, nextMs, lastMs, runs }: ScheduleView, nowMs: number): string {
  const active = runs.filter(({ state }) => state === "active").length;
  return [
    printable(timeZone === null ? cron : `${cron} ${timeZone}`),
    ...(nextMs === null ? [] : [`next in ${age(Math.max(0, nextMs - nowMs))}`]),
    lastMs === null ? "none yet" : `last ${age(nowMs - lastMs)} ago`,
    ...(active === 0 ? [] : [`${active} active`]),
  ].join(", ");
}

/** A task from a daemon of an earlier version, which does not send these fields. */
type OfDaemon = TaskView | (Omit<TaskView, "readiness" | "ports"> & { readonly readiness?: undefined; readonly ports?: undefined });

/** Readiness of the task, which all its rows show. A container that has ended shows none, even if its task is ready. */
function readyOf({ readiness }: OfDaemon, { known }: ContainerView): string {
  if (readiness === undefined || (readiness.state === "ready" && known === "STOPPED")) return "-";
  return { ready: "yes", waits: "no", failed: "failed" }[readiness.state];
}

function portsOf({ ports = [] }: OfDaemon): string {
  return ports.length === 0 ? "-" : ports.join(",");
}

function healthOf({ health }: ContainerView): string {
  return health?.toLowerCase() ?? "-";
}

function reasonOf(task: TaskView, container: ContainerView): string {
  const { waitsForRestart, lastRun, reason, pull, pullProgress } = container;
  const ended = exitOf(container);
  if (pull === "pulling" && pullProgress !== undefined) return progressText(pullProgress);
  if (waitsForRestart && lastRun?.failedCheck) return `failed its ${lastRun.failedCheck}${ended === undefined ? "" : `, ${ended}`}`;
  return reason ?? ended ?? task.reason ?? task.waiting?.join("; ") ?? unreadyIn(task, container);
}

/** Of a container that runs: why its task is not ready, such as a check that fails. */
function unreadyIn({ readiness }: OfDaemon, { known, type }: ContainerView): string {
  return readiness?.state === "waits" && known === "RUNNING" && type === "normal" ? readiness.why : "";
}

function exitCodeOf({ exit }: ContainerView): string {
  if (exit === null) return "-";
  return exit.unknown ? "unknown" : String(exit.code ?? "-");
}

function exitOf({ exit }: ContainerView): string | undefined {
  return exit?.code === undefined || exit.code === null ? undefined : `exited with ${exit.code}`;
}
