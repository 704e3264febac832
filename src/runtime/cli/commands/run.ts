import type { Execution } from "../../execute/execution.ts";
import * as host from "../../host/index.ts";
import { run } from "../../verbs/run.ts";
import { absolutePath, text, type Verb } from "../context.ts";
import { createOptions } from "../create-options.ts";
import { dryRun } from "../dry-run.ts";

export { begin } from "../create-options.ts";

export const verb: Verb = (context, beginning) => {
  const id = context.positionals[0]!;
  const resizeFifo = text(context.flags["resize-fifo"]);
  const request = { ...createOptions(context, id, "run"), ...(resizeFifo === undefined ? {} : { resizeFifo: absolutePath(resizeFifo) }) };
  if (context.flags["dry-run"]) return dryRun().printDryRun(context, request);
  const exitRecord = text(context.flags["exit-record"]);
  const options = {
    keep: context.flags["keep"] === true,
    subreaper: context.flags["no-subreaper"] !== true,
    ...(exitRecord === undefined ? {} : { exitRecord: absolutePath(exitRecord) }),
    deleteCommand: [host.argv()[0] ?? "runt", ...context.globalWords, "delete", "--force"],
    made: ({ record, demanded }: Execution) => context.warned({ warnings: record.warnings, demanded }),
  };
  run(context.options, request, options, beginning);
  return 0;
};
