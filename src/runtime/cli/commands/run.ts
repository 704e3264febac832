import type { Execution } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import { run, runRecorded } from "../../verbs/index.ts";
import { absolutePath, text, type Verb } from "../context.ts";
import { createOptions } from "../create-options.ts";
import { dryRun } from "../dry-run.ts";

export { beginEarly, cancelEarly } from "../create-options.ts";

export const verb: Verb = (context, headStart) => {
  const id = context.positionals[0]!;
  const resizeFifo = text(context.flags["resize-fifo"]);
  const request = { ...createOptions(context, id, "run"), ...(resizeFifo === undefined ? {} : { resizeFifo: absolutePath(resizeFifo) }) };
  if (context.flags["dry-run"]) return dryRun().printDryRun(context, request);
  const exitRecord = text(context.flags["exit-record"]);
  const options = {
    keep: context.flags["keep"] === true,
    subreaper: context.flags["no-subreaper"] !== true,
    deleteCommand: [host.argv()[0] ?? "runt", ...context.globalWords, "delete", "--force"],
    made: ({ record, demanded }: Execution) => context.warned({ warnings: record.warnings, demanded }),
  };
  if (exitRecord === undefined) run(context.options, request, options, headStart!);
  else runRecorded(context.options, request, options, absolutePath(exitRecord));
  return 0;
};
