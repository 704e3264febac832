/** The ends of this process's children, in a loop. All signals have to be blocked; but for SIGCHLD they mean nothing here. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import type { Loop } from "./loop.ts";

export function watchChildren(loop: Loop, ended: (pid: number, status: number) => void): void {
  const signals = kernel.signalDescriptor();
  loop.add({
    fd: signals,
    wants: () => host.POLL.IN,
    ready() {
      while (kernel.nextSignal(signals) !== 0);
      for (let child = host.waitpid(-1, host.WAIT.NOHANG); child; child = host.waitpid(-1, host.WAIT.NOHANG)) {
        ended(child.pid, child.status);
      }
    },
  });
}
