import { create } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { createOptions } from "../create-options.ts";
import { printDryRun } from "../print-plan.ts";
import { makeRecorded } from "../recorded.ts";

export { beginEarly, cancelEarly } from "../create-options.ts";

export const verb: Verb = (context, headStart) => {
  const request = createOptions(context, context.positionals[0]!, "create");
  if (context.flags["dry-run"]) return printDryRun(context, request);
  const exitRecord = text(context.flags["exit-record"]);
  if (exitRecord === undefined) {
    const { record, demanded } = create(context.options, request, headStart!).made;
    context.warned({ warnings: record.warnings, demanded });
  } else makeRecorded(context, request, exitRecord);
  return 0;
};
