/** create and run: compile the bundle, make the container; run starts it, too, and in the foreground waits for its end. */

import { memoryPressure } from "../cgroup/index.ts";
import { begin, cancel, type HeadStart, hint } from "../execute/head-start/index.ts";
import { becomeMonitor, type Execution, type MonitorOptions, newContainer, recordExit, waitUntilReady } from "../execute/index.ts";
import * as host from "../host/index.ts";
import { phase, separateDescriptors } from "../host/index.ts";
import { type CreateOptions, compileFor, type OutputLog, type RuntimeOptions } from "../prepare/index.ts";

/** The caller cancels the head start after an error. @throws RuntError; then nothing is left */
export function create(options: RuntimeOptions, request: CreateOptions, headStart: HeadStart): Execution {
  phase?.("verb", "verbs");
  hint(headStart, options, request);
  return newContainer(options.root, compileFor(options, request), headStart);
}

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
  const { notification: sockets, pid } = execution.running;
  if (sockets) {
    host.unblockSignals();
    waitUntilReady(sockets, pid, host.pidfdOpen(pid));
  }
}

interface RecordedOptions extends MonitorOptions {
  /** Called when the container is made. */
  readonly made: (execution: Execution) => void;
}

/** What is written meanwhile, and at the end. */
interface RecordFiles {
  /** Of the record. */
  readonly path: string;
  readonly outputLog: OutputLog | undefined;
}

/** create and run --detach with an exit record: a monitor that no process waits for stays with the container. Returns in the caller's process only. */
export function makeRecorded(options: RuntimeOptions, request: CreateOptions, recordedOptions: RecordedOptions, files: RecordFiles): void {
  phase?.("verb", "verbs");
  recordExit(options.root, request, files, {
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
    made: recordedOptions.made,
    watch: (execution, record) => becomeMonitor(execution, recordedOptions, record),
    memoryPressure,
  });
}
