/** create and run with --exit-record, loaded for them only. */
import type { Execution } from "../execute/index.ts";
import * as host from "../host/index.ts";
import type { CreateOptions } from "../prepare/index.ts";
import { makeRecorded as make } from "../verbs/recorded/index.ts";
import { absolutePath, type VerbContext } from "./context.ts";

/** Returns in the caller's process only. */
export function makeRecorded(context: VerbContext, request: CreateOptions, exitRecord: string): void {
  make(
    context.options,
    request,
    {
      keep: context.flags["keep"] === true,
      deleteCommand: [host.argv()[0] ?? "runt", ...context.globalWords, "delete", "--force"],
      made: ({ record, demanded }: Execution) => context.warned({ warnings: record.warnings, demanded }),
    },
    absolutePath(exitRecord),
  );
}
