import * as host from "../host/index.ts";
import type { Execution } from "./execute.ts";

/** What an execution that has failed leaves running ends, and is reaped. */
export function endChildren({ socket, pid, helper }: Pick<Execution, "socket" | "pid" | "helper">): void {
  if (socket !== -1) host.close(socket);
  for (const child of [pid, helper]) {
    if (child <= 0) continue;
    try {
      host.kill(child, host.signalNumber("KILL"));
    } catch (error) {
      if (!host.isErrno(error, "ESRCH")) throw error;
    }
    host.waitpid(child, 0);
  }
}
