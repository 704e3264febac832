import * as host from "../../host/index.ts";
import { restore } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { createOptions } from "../create-options.ts";
import { criuFlags } from "../criu-flags.ts";

export const verb: Verb = (context) => {
  const { flags, options, positionals, globalWords } = context;
  const id = positionals[0]!;
  const [lsmProfile, lsmMountContext] = [text(flags["lsm-profile"]), text(flags["lsm-mount-context"])];
  restore(
    options,
    createOptions(context, id, "run"),
    { ...criuFlags(context), ...(lsmProfile ? { lsmProfile } : {}), ...(lsmMountContext ? { lsmMountContext } : {}) },
    {
      keep: false,
      subreaper: flags["no-subreaper"] !== true,
      made: ({ made: { record, demanded } }) => context.warned({ warnings: record.warnings, demanded }),
      deleteCommand: [host.argv()[0] ?? "runt", ...globalWords, "delete", "--force"],
    },
  );
  return 0;
};
