/** That SIGKILL has ended the processes it was sent to. */
import { type Left, signalBelow } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { readRecord } from "../state/index.ts";
import { ownerOf, warnLeft } from "./owner.ts";

/** PF_EXITING of include/linux/sched.h. */
const EXITING = 4;

/** @throws RuntError cgroup, with `subject` before it: processes that SIGKILL was sent to have not begun to end */
export function requireEnded({ stuck }: Left, subject = ""): void {
  // Init of a PID namespace waits in its exit until others have reaped the processes that they have put there.
  const left = stuck.filter((pid) => !isExiting(pid));
  if (left.length > 0) throw new RuntError("cgroup", `${subject}still there after SIGKILL: ${left.join(" ")}`);
}

/** Whether a process has begun to end, or is gone already. The flags are the seventh field behind the name in proc_pid_stat(5). */
export function isExiting(pid: number): boolean {
  try {
    const text = host.readFile(`/proc/${pid}/stat`, undefined, true);
    return (Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[6]) & EXITING) !== 0;
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ESRCH")) return true;
    throw error;
  }
}

/** The flags of kill. */
interface Flags {
  readonly [name: string]: unknown;
}

/**
 * kill --cgroup: a signal to everything in a cgroup below a container's own, which exec --cgroup has
 * put there. `--cgroup`: as for exec. Who is there and is not the container's
 * (src/runtime/cgroup/ownership.ts) is left alone, and named in a warning.
 * @throws RuntError usage; id-unknown; cgroup: the container has no such cgroup, or somebody in it
 * does not end
 */
export function killBelow(root: string, id: string, signal: number, { cgroup, all, regex }: Flags): void {
  const wanted = String(cgroup);
  if (all || regex) throw new RuntError("usage", "--cgroup goes with neither --all nor --regex");
  const record = readRecord(root, id);
  if (record.cgroup === undefined) throw new RuntError("cgroup", "the container has no cgroup");
  const left = signalBelow(record.cgroup, ownerOf(record, root), wanted, signal);
  warnLeft(id, left);
  requireEnded(left, `--cgroup ${wanted}: `);
}
