/** What a create that fails takes back. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { containerDirectory, lockAgain } from "../state/index.ts";
import { destroy } from "./destroy.ts";
import type { Execution } from "./execution.ts";
import { runPoststop } from "./hooks.ts";
import { returnNetDevices } from "./net-devices.ts";
import { endChildren } from "./reap.ts";

/** The error that create ends with: what went wrong first, and that something may be left. */
export function rollbackError(execution: Execution, id: string, error: unknown): unknown {
  try {
    undo(execution);
    return error;
  } catch (second) {
    if (!(error instanceof RuntError)) return error;
    const left = `what was made is still there: ${host.reason(second)} (delete --force ${id} removes it)`;
    return new RuntError(error.code, `${error.message}; ${left}`, error.details);
  }
}

/** Nothing of ours was reserved before state.intent; after it, the record says what may exist. */
export function undo({ asked: { root }, made: { lock, netDevices, record }, running }: Execution): void {
  // A second signal does not stop it half-way.
  host.endWaitsBySignal(false);
  endChildren(running);
  if (lock === -1) return;
  if (netDevices) returnNetDevices(netDevices);
  // Let go for a poststart hook, which may have removed the container.
  if (!lockAgain(lock, containerDirectory(root, record.id))) return;
  destroy(root, record);
  runPoststop(record);
}

/** A helper that waits for its plan, and the init that it may have made. */
export function endHelper({ pid, socket }: { readonly pid: number; readonly socket: number }): void {
  endChildren({ socket, helper: pid, pid: 0, server: 0 });
}
