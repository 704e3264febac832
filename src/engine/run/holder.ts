/**
 * When the first process of a shared pid namespace ends, the kernel kills all others before it reports that end. So an observer who looks at the others only
 * would blame them.
 */
import { readFileSync } from "node:fs";
import type { ProcessState } from "../../executor/index.ts";

/** PF_EXITING of include/linux/sched.h, as proc(5) shows it in `flags`. */
const EXITING = 0x4;
/** Fields of /proc/PID/stat, counted from the third one, which follows the name. */
const FLAGS = 9 - 3;
const START_TICKS = 22 - 3;

/** Its process is ending, or has. */
export function isEnding({ pid, startTicks }: Pick<ProcessState, "pid" | "startTicks">): boolean {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return true;
  }
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[START_TICKS] !== startTicks || (Number(fields[FLAGS]) & EXITING) !== 0;
}
