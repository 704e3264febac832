/**
 * When the first process of a shared pid namespace ends, the kernel kills all other processes before it reports that end. An observer that looks only at the other
 * processes would take their ends for failures of their own.
 */
import type { ProcessState } from "../../../executor/index.ts";
import { readProc } from "../../own/index.ts";

/** PF_EXITING in the `flags` field of /proc/PID/stat. Source: include/linux/sched.h, proc(5). */
const EXITING = 0x4;
/** Index of fields in /proc/PID/stat, counted from the third field, which follows the process name. */
const FLAGS = 9 - 3;
const START_TICKS = 22 - 3;

/** Whether the process is ending or has ended. @throws as readProc */
export function isEnding({ pid, startTicks }: Pick<ProcessState, "pid" | "startTicks">): boolean {
  const text = readProc(pid, "stat");
  if (text === undefined) return true;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[START_TICKS] !== startTicks || (Number(fields[FLAGS]) & EXITING) !== 0;
}
