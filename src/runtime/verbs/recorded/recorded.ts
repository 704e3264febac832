/** create and run --detach with --exit-record: a monitor that belongs to nobody stays with the container. */
import { memoryPressure } from "../../cgroup/index.ts";
import { begin, cancel, hint } from "../../execute/head-start/index.ts";
import { becomeMonitor, type Execution, exitRecord, type MonitorOptions, newContainer } from "../../execute/index.ts";
import { phase, separateDescriptors } from "../../host/index.ts";
import { type CreateOptions, compileFor, type RuntimeOptions } from "../../prepare/index.ts";

export interface RecordedOptions extends MonitorOptions {
  /** Called when the container is made. */
  readonly made: (execution: Execution) => void;
}

/** Returns in the caller's process only. `path`: of the record. */
export function makeRecorded(options: RuntimeOptions, request: CreateOptions, recordedOptions: RecordedOptions, path: string): void {
  phase?.("verb", "verbs");
  exitRecord().record(options.root, request, path, {
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
