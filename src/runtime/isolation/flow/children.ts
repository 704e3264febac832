/** The ends of this process's children, in a loop, and other signals that come. All have to be blocked. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import type { Loop } from "./loop.ts";

export function watchChildren(
  loop: Loop,
  ended: (pid: number, status: number) => void,
  signalled: (number: number) => void = () => {},
): void {
  const signals = kernel.signalDescriptor();
  loop.add({
    fd: signals,
    wants: () => host.POLL.IN,
    ready() {
      for (let number = kernel.nextSignal(signals); number !== 0; number = kernel.nextSignal(signals)) {
        if (number !== host.signalNumber("CHLD")) signalled(number);
      }
      reap(ended);
    },
  });
}

/** Whoever has ended of them. */
export function reap(ended: (pid: number, status: number) => void): void {
  for (let child = host.waitpid(-1, host.WAIT.NOHANG); child; child = host.waitpid(-1, host.WAIT.NOHANG)) {
    ended(child.pid, child.status);
  }
}
