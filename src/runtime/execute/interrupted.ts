/** The error of a verb that a signal has ended before the program of the container has begun. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

/** As shells have it. */
const BY_SIGNAL = 128;

const notBegun = (signal: string): string => `${signal}: ended before the program began`;

/** The error of a wait that a signal has ended; undefined for any other. `message`: given the name of the signal, what has become of what was begun. */
export function interruption(error: unknown, message = notBegun): RuntError | undefined {
  const signal = host.endingSignal();
  if (signal === 0 || !host.isErrno(error, "EINTR")) return undefined;
  return new RuntError("interrupted", message(host.signalName(signal) ?? String(signal)), { exitStatus: BY_SIGNAL + signal });
}

/**
 * From here on TERM, INT, HUP and QUIT end a wait instead of this process, so that what was begun can be undone. Without a wait of some
 * milliseconds they stay pending: nothing hangs, and in the foreground the monitor takes them.
 */
export function endBySignal(): void {
  host.blockSignals();
  host.endWaitsBySignal(true);
}
