/** Converts tasks to rows of a table. */
import type { ContainerView, OrphanView, TaskView } from "../../engine/index.ts";
import { printable, type Style, stateStyle } from "./style.ts";
import { age } from "./table.ts";

export const HEADER: readonly string[] = ["TASK", "CONTAINER", "STATE", "RESTARTS", "AGE", "REASON"];
export const WIDE_HEADER: readonly string[] = ["TASK", "CONTAINER", "STATE", "RESTARTS", "AGE", "EXIT", "GENERATION", "ID", "REASON"];

export interface RowOptions {
  readonly isWide: boolean;
  readonly nowMs: number;
  /** No daemon answers: the task is one that was shown before. */
  readonly isUnknown?: boolean;
}

/** One row for each container. */
export function rowsOf(task: TaskView, { isWide, nowMs, isUnknown = false }: RowOptions): string[][] {
  return task.containers.map((container) => [
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
export function orphanRow({ id, name, container, generation, isRunning }: OrphanView, isWide: boolean): string[] {
  return [
    printable(name ?? "-"),
    printable(container ?? "-"),
    "ORPHAN",
    ...["-", "-"],
    ...(isWide ? ["-", String(generation ?? "-"), printable(id)] : []),
    `the store does not know it, and it ${isRunning ? "runs" : "has ended"}`,
  ];
}

/** Colours the cells of the column with the state. */
export function styled(style: Style): (cell: string, column: number) => string {
  return (cell, column) => (column === 2 ? style(stateStyle(cell.trim()), cell) : cell);
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
