import { create } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";
import { createOptions } from "../create-options.ts";
import { dryRun } from "../dry-run.ts";

export { beginEarly, cancelEarly } from "../create-options.ts";

export const verb: Verb = (context, headStart) => {
  const request = createOptions(context, context.positionals[0]!, "create");
  if (context.flags["dry-run"]) return dryRun().printDryRun(context, request);
  const { record, demanded } = create(context.options, request, headStart!);
  context.warned({ warnings: record.warnings, demanded });
  return 0;
};
