/** start under a filter: it may refuse init to become the program, to say so, and even to end. */
import * as host from "../host/index.ts";
import { filterPath } from "../plan/index.ts";
import { refusesExecve } from "../seccomp/index.ts";
import type { StateRecord } from "../state/index.ts";
import { lifeOf } from "./begun.ts";

/** Of any filter; the kernel takes 4096 instructions. */
const FILTER_LIMIT = 32_768;

/**
 * init has let exec.fifo go and has reported nothing: did it end before the program began? Where it was reaped already its filter answers: a program
 * that ends at once must not be called one that never ran.
 */
export function neverBegan({ pid, startTime }: StateRecord, directory: string): boolean {
  const life = lifeOf(pid);
  if (life !== undefined && life.startTime === startTime) return life.ending && !life.executed;
  return refusesExecve(host.readBytes(filterPath(directory), FILTER_LIMIT), host.architecture);
}
