/** create, run and plan: they have the same flags, and a dry run. */

import { RuntError, WORDS } from "../../errors/index.ts";
import type { Execution } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import type { CreateOptions, OutputLog } from "../../prepare/index.ts";
import * as verbs from "../../verbs/index.ts";
import { absolutePath, text, type Verb, type VerbContext } from "../context.ts";
import { createOptions } from "../create-options.ts";
import type { FlagValues } from "../parse.ts";
import { printDryRun } from "../print-plan.ts";

export const create: Verb = (context, headStart) => {
  const request = createOptions(context, context.positionals[0]!, "create");
  if (context.flags["dry-run"]) return printDryRun(context, request);
  const exitRecord = text(context.flags["exit-record"]);
  if (exitRecord === undefined) {
    const { record, demanded } = verbs.create(context.options, request, headStart!).made;
    context.warned({ warnings: record.warnings, demanded });
  } else makeRecorded(context, request, exitRecord);
  return 0;
};

export const run: Verb = (context, headStart) => {
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
    verbs.run(context.options, request, options, headStart!);
  } else makeRecorded(context, request, exitRecord);
  return 0;
};

export const plan: Verb = (context) =>
  printDryRun(
    context,
    createOptions(context, context.positionals[0] ?? bundleName(context.flags["bundle"]), context.flags["run"] ? "run" : "create"),
  );

/** Without an id the plan is printed for one named after the bundle. */
function bundleName(bundle: unknown): string {
  const name = typeof bundle === "string" ? bundle.replace(/\/+$/, "").split("/").at(-1)! : "";
  return /^[\w+\-.]+$/.test(name) && !/^\.\.?$/.test(name) ? name : "container";
}

/** A container that writes an exit record, or a log. Returns in the caller's process only. */
function makeRecorded(context: VerbContext, request: CreateOptions, exitRecord: string): void {
  verbs.makeRecorded(
    context.options,
    request,
    {
      keep: context.flags["keep"] === true,
      deleteCommand: [host.argv()[0] ?? "runt", ...context.globalWords, "delete", "--force"],
      made: ({ made: { record, demanded } }: Execution) => context.warned({ warnings: record.warnings, demanded }),
    },
    { path: absolutePath(exitRecord), outputLog: outputLogOf(context.flags) },
  );
}

const SIZE = 10 * 1024 * 1024;
const FILES = 3;

function outputLogOf(flags: FlagValues): OutputLog | undefined {
  const path = text(flags["output-log"]);
  const size = text(flags["output-log-size"]);
  const files = flags["output-log-files"];
  if (path === undefined) {
    if (size !== undefined || files !== undefined) throw new RuntError("usage", WORDS.outputLogMissing);
    return undefined;
  }
  return { path: absolutePath(path), size: size === undefined ? SIZE : bytesIn(size), files: typeof files === "number" ? files : FILES };
}

/** More than the flags that are counts may be: a log of gigabytes is one. */
function bytesIn(size: string): number {
  if (!/^\d{1,15}$/.test(size)) throw new RuntError("usage", `invalid value "${size}" for flag -output-log-size: use a number of bytes`);
  return Number(size);
}
