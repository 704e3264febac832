/** create and run with --exit-record. */
import { RuntError, WORDS } from "../errors/index.ts";
import type { Execution } from "../execute/index.ts";
import * as host from "../host/index.ts";
import type { CreateOptions, OutputLog } from "../prepare/index.ts";
import { makeRecorded as make } from "../verbs/index.ts";
import { absolutePath, text, type VerbContext } from "./context.ts";
import type { FlagValues } from "./parse.ts";

/** Returns in the caller's process only. */
export function makeRecorded(context: VerbContext, request: CreateOptions, exitRecord: string): void {
  make(
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
