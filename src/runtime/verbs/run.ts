/** run: create and start in one; in the foreground this process becomes the helper's monitor. */
import { memoryPressure } from "../cgroup/index.ts";
import { begin, cancel, type HeadStart, hint } from "../execute/head-start/index.ts";
import { becomeMonitor, type Execution, exitRecord, type MonitorOptions, newContainer, notification } from "../execute/index.ts";
import * as host from "../host/index.ts";
import { phase, separateDescriptors } from "../host/index.ts";
import { type CreateOptions, compileFor, type RuntimeOptions } from "../prepare/index.ts";

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
  exitRecord().recordRun(options.root, request, path, {
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
