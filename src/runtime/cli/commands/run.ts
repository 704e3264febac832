import type { Execution } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import { run } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { createOptions } from "../create-options.ts";
import { printDryRun } from "../print-plan.ts";
import { makeRecorded } from "../recorded.ts";

export { beginEarly, cancelEarly } from "../create-options.ts";

export const verb: Verb = (context, headStart) => {
  const request = createOptions(context, context.positionals[0]!, "run");
  if (context.flags["dry-run"]) return printDryRun(context, request);
  const exitRecord = text(context.flags["exit-record"]);
  if (exitRecord === undefined) {
    const options = {
      keep: context.flags["keep"] === true,
      subreaper: context.flags["no-subreaper"] !== true,
      deleteCommand: [host.argv()[0] ?? "runt", ...context.globalWords, "delete", "--force"],
      made: ({ made: { record, demanded } }: Execution) => context.warned({ warnings: record.warnings, demanded }),
    };
    run(context.options, request, options, headStart!);
  } else makeRecorded(context, request, exitRecord);
  return 0;
};
