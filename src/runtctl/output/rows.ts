/** Converts tasks to rows of a table. */
import type { ContainerView, OrphanView, TaskView } from "../../engine/index.ts";
import { printable, type Style, stateStyle } from "./style.ts";
import { age } from "./table.ts";

export interface Columns {
  /** Also exit status, generation and id. */
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
  const further = isWide ? ["EXIT", "GENERATION", "ID"] : [];
  return [...(hasGroups ? ["GROUP"] : []), "TASK", "CONTAINER", "STATE", "RESTARTS", "AGE", ...further, "REASON"];
}

/** One row for each container. */
export function rowsOf(task: TaskView, { isWide, hasGroups = false, nowMs, isUnknown = false }: RowOptions): string[][] {
  return task.containers.map((container) => [
    ...(hasGroups ? [task.group] : []),
    task.name,
    printable(container.name),
    isUnknown ? "UNKNOWN" : stateOf(task, container),
    String(container.restarts),
    container.startedMs === null ? "-" : age(nowMs - container.startedMs),
    ...(isWide ? [exitCodeOf(container), String(container.generation), printable(container.id)] : []),
    isUnknown ? "no daemon answers" : printable(container.reason ?? exitOf(container) ?? task.reason ?? task.waiting?.join("; ") ?? ""),
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
    ...["-", "-"],
    ...(isWide ? ["-", String(generation ?? "-"), printable(id)] : []),
    `the store does not know it, and it ${isRunning ? "runs" : "has ended"}`,
  ];
}

/** Colours the cells of the column with the state. */
export function styled(style: Style, { hasGroups = false }: Columns): (cell: string, column: number) => string {
  const state = hasGroups ? 3 : 2;
  return (cell, column) => (column === state ? style(stateStyle(cell.trim()), cell) : cell);
}

function stateOf({ waiting }: TaskView, { known }: ContainerView): string {
  return waiting === null ? known : "WAITING";
}

function exitCodeOf({ exit }: ContainerView): string {
  if (exit === null) return "-";
  return exit.unknown ? "unknown" : String(exit.code ?? "-");
}

function exitOf({ exit }: ContainerView): string | undefined {
  return exit?.code === undefined || exit.code === null ? undefined : `exited with ${exit.code}`;
}
