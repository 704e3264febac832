import * as host from "../host/index.ts";

/**
 * From here on TERM, INT, HUP and QUIT end a wait instead of this process, so that what was begun can be undone. Without a wait of some
 * milliseconds they stay pending: nothing hangs, and in the foreground the monitor takes them.
 */
export function endBySignal(): void {
  host.blockSignals();
  host.endWaitsBySignal(true);
}
