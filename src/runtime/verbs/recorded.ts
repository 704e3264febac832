/** create and run --detach with --exit-record: a monitor that no process waits for stays with the container. */
import { memoryPressure } from "../cgroup/index.ts";
import { begin, cancel, hint } from "../execute/head-start/index.ts";
import { becomeMonitor, type Execution, type MonitorOptions, newContainer, recordExit } from "../execute/index.ts";
import { phase, separateDescriptors } from "../host/index.ts";
import { type CreateOptions, compileFor, type OutputLog, type RuntimeOptions } from "../prepare/index.ts";

export interface RecordedOptions extends MonitorOptions {
  /** Called when the container is made. */
  readonly made: (execution: Execution) => void;
}

/** What is written meanwhile, and at the end. */
export interface RecordFiles {
  /** Of the record. */
  readonly path: string;
  readonly outputLog: OutputLog | undefined;
}

/** Returns in the caller's process only. */
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
