/** run: create and start in one; in the foreground this process becomes the helper's monitor. */
import { memoryPressure } from "../cgroup/index.ts";
import type { Execution } from "../execute/execution.ts";
import { begin, cancel, type HeadStart, hint } from "../execute/head-start/index.ts";
import { becomeMonitor, type MonitorOptions } from "../execute/monitor.ts";
import { newContainer } from "../execute/new-container.ts";
import { notification } from "../execute/on-demand.ts";
import { separateDescriptors } from "../host/descriptors.ts";
import * as host from "../host/index.ts";
import { loadedNow } from "../host/lazy.ts";
import { phase } from "../host/observer.ts";
import { compileFor } from "../prepare/compile-for.ts";
import type { CreateOptions, RuntimeOptions } from "../prepare/options.ts";

export interface RunOptions extends MonitorOptions {
  readonly subreaper: boolean;
  /** Called when the container is made. */
  readonly made?: (execution: Execution) => void;
}

/** Returns for a detached container; in the foreground it never does. The caller cancels the head start after an error. */
export function run(options: RuntimeOptions, request: CreateOptions, runOptions: RunOptions, headStart: HeadStart): void {
  phase?.("verb", "verbs");
  const { keep, subreaper, made } = runOptions;
  if (!request.detach && subreaper) host.setChildSubreaper(true);
  hint(headStart, options, request);
  const execution = newContainer(options.root, compileFor(options, request), headStart, request.detach ? undefined : { keep });
  made?.(execution);
  if (!request.detach) becomeMonitor(execution, runOptions);
  const { notification: sockets, pid } = execution;
  if (sockets) {
    host.unblockSignals();
    notification().waitUntilReady(sockets, pid, host.pidfdOpen(pid));
  }
}

/** run --detach --exit-record: a monitor that belongs to nobody stays. Returns in the caller's process only. `path`: of the record. */
export function runRecorded(options: RuntimeOptions, request: CreateOptions, runOptions: RunOptions, path: string): void {
  phase?.("verb", "verbs");
  const { recordRun } = loadedNow(import("../execute/exit-record.ts"));
  recordRun(options.root, request, path, {
    separateDescriptors,
    make(unattended) {
      const headStart = begin(request.preserveFds, request.expectPlan === undefined);
      try {
        hint(headStart, options, unattended);
        return newContainer(options.root, compileFor(options, unattended), headStart);
      } catch (error) {
        cancel(headStart);
        throw error;
      }
    },
    made: runOptions.made,
    watch: (execution, record) => becomeMonitor(execution, runOptions, record),
    memoryPressure,
  });
}
