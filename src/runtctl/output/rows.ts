/** Converts tasks to rows of a table. */
import type { ContainerView, OrphanView, ScheduleView, TaskView } from "../../engine/index.ts";
import { printable, type Style, stateStyle } from "./style.ts";
import { age } from "./table.ts";

export interface Columns {
  /** Also health, exit status, generation and id. */
  readonly isWide: boolean;
  /** Also the group, as the first one. */
  readonly hasGroups?: boolean;
}

export interface RowOptions extends Columns {
  readonly nowMs: number;
  /** No daemon answers: the task is one that was shown before. */
  readonly isUnknown?: boolean;
}

export function headerOf({ isWide, hasGroups = false }: Columns): readonly string[] {
  const further = isWide ? ["HEALTH", "EXIT", "GENERATION", "ID"] : [];
  return [...(hasGroups ? ["GROUP"] : []), "TASK", "CONTAINER", "STATE", "READY", "RESTARTS", "AGE", "PORTS", ...further, "REASON"];
}

/** One row for each container, or for the schedule of a task that has one. */
export function rowsOf(task: TaskView, { isWide, hasGroups = false, nowMs, isUnknown = false }: RowOptions): string[][] {
  if (task.schedule !== undefined) {
    return [
      [
        ...(hasGroups ? [task.group] : []),
        ...[task.name, "-", isUnknown ? "UNKNOWN" : scheduleState(task, task.schedule), "-", "-", age(nowMs - task.createdMs), "-"],
        ...(isWide ? ["-", "-", "-", printable(task.id)] : []),
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
    String(container.restarts),
    container.startedMs === null ? "-" : age(nowMs - container.startedMs),
    portsOf(task),
    ...(isWide ? [healthOf(container), exitCodeOf(container), String(container.generation), printable(container.id)] : []),
    isUnknown ? "no daemon answers" : printable(reasonOf(task, container)),
  ]);
}

/** A row for an orphan: the store has no record of it, so the other cells stay empty. */
export function orphanRow(
  { id, group, name, container, generation, isRunning }: OrphanView,
  { isWide, hasGroups = false }: Columns,
): string[] {
  return [
    ...(hasGroups ? [printable(group ?? "-")] : []),
    printable(name ?? "-"),
    printable(container ?? "-"),
    "ORPHAN",
    ...["-", "-", "-", "-"],
    ...(isWide ? ["-", "-", String(generation ?? "-"), printable(id)] : []),
    `the store does not know it, and it ${isRunning ? "runs" : "has ended"}`,
  ];
}

/** Colours the cells of the column with the state. */
export function styled(style: Style, { hasGroups = false }: Columns): (cell: string, column: number) => string {
  const state = hasGroups ? 3 : 2;
  return (cell, column) => (column === state ? style(stateStyle(cell.trim()), cell) : cell);
}

/** What users of kubectl look for when a container does not stay up. */
const CRASH_LOOP = "CrashLoopBackOff";

function stateOf({ waiting, pulls }: TaskView, { known, waitsForRestart, image, pull }: ContainerView): string {
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

/** A daemon that was started before an upgrade does not say it. */
type OfDaemon = TaskView | (Omit<TaskView, "readiness" | "ports"> & { readonly readiness?: undefined; readonly ports?: undefined });

/** Of the task, as each of its rows says it. A container that has ended serves nobody, also where its task had become ready before. */
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
  const { waitsForRestart, lastRun, reason } = container;
  const ended = exitOf(container);
  if (waitsForRestart && lastRun?.failedCheck) return `failed its ${lastRun.failedCheck}${ended === undefined ? "" : `, ${ended}`}`;
  return reason ?? ended ?? task.reason ?? task.waiting?.join("; ") ?? "";
}

function exitCodeOf({ exit }: ContainerView): string {
  if (exit === null) return "-";
  return exit.unknown ? "unknown" : String(exit.code ?? "-");
}

function exitOf({ exit }: ContainerView): string | undefined {
  return exit?.code === undefined || exit.code === null ? undefined : `exited with ${exit.code}`;
}
