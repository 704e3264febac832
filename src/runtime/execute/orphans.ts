/** What an exec has started and knows no number of: the intermediate died between its clone and its message. Only for an exec that has failed. */
import * as host from "../host/index.ts";
import { endChildren } from "./reap.ts";

/** Children of this process that are in a namespace of the container's; others may be the caller's, from before it became runt. */
export function endOrphans(target: number): void {
  for (const pid of children()) if (isInContainer(pid, target)) endChildren({ socket: -1, pid, helper: 0, server: 0 });
}

/** Needs CONFIG_PROC_CHILDREN, which checkpoints need too. */
function children(): number[] {
  try {
    const text = host.readFile(`/proc/self/task/${host.getpid()}/children`, undefined, true);
    return text.split(" ").map(Number).filter(Boolean);
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

function isInContainer(pid: number, target: number): boolean {
  return ["mnt", "pid", "net", "ipc", "uts"].some((type) => {
    const [its, targets, own] = [pid, target, "self"].map((process) => namespaceOf(process, type));
    return its !== undefined && its === targets && its !== own;
  });
}

function namespaceOf(process: number | string, type: string): bigint | undefined {
  try {
    return host.stat(`/proc/${process}/ns/${type}`)?.ino;
  } catch (error) {
    if (host.isErrno(error, "EACCES", "EPERM", "ESRCH")) return undefined;
    throw error;
  }
}
