/** `runt`: parse, load the one verb that was asked for, run it, report. */

import { RuntError } from "../errors/index.ts";
import type { HeadStart } from "../execute/head-start/index.ts";
import { clock, phase } from "../host/index.ts";
import { absolutePath, createContext, type Verb } from "./context.ts";
import { print } from "./output.ts";
import { type CommandLine, parseCommandLine } from "./parse.ts";
import { createReporter, type Reporter } from "./report.ts";
import type { VerbName } from "./table/index.ts";

interface VerbModule {
  readonly verb: Verb;
  /** Called first of all, where a verb has it; `cancelEarly` after an error. */
  readonly beginEarly?: (line: CommandLine) => HeadStart | undefined;
  readonly cancelEarly?: (headStart: HeadStart) => void;
}

const LOADERS: Readonly<Record<VerbName, () => Promise<VerbModule>>> = {
  create: () => import("./commands/create.ts"),
  start: () => import("./commands/start.ts"),
  state: () => import("./commands/state.ts"),
  gc: () => import("./commands/gc.ts"),
  kill: () => import("./commands/kill.ts"),
  delete: () => import("./commands/delete.ts"),
  run: () => import("./commands/run.ts"),
  exec: () => import("./commands/exec.ts"),
  ps: () => import("./commands/ps.ts"),
  pause: () => import("./commands/pause.ts"),
  resume: () => import("./commands/resume.ts"),
  update: () => import("./commands/update.ts"),
  checkpoint: () => import("./commands/checkpoint.ts"),
  restore: () => import("./commands/restore.ts"),
  events: () => import("./commands/events.ts"),
  mounts: () => import("./commands/mounts.ts"),
  list: () => import("./commands/list.ts"),
  spec: () => import("./commands/spec.ts"),
  features: () => import("./commands/features.ts"),
  plan: () => import("./commands/plan.ts"),
  completion: () => import("./commands/completion.ts"),
  validate: () => import("./commands/validate.ts"),
  check: () => import("./commands/check.ts"),
  inspect: () => import("./commands/inspect.ts"),
  diff: () => import("./commands/diff.ts"),
  schema: () => import("./commands/schema.ts"),
  explain: () => import("./commands/explain.ts"),
  service: () => import("./commands/service.ts"),
};

export async function main(words: readonly string[]): Promise<number> {
  let reporter: Reporter = createReporter({});
  let failureStatus: number | undefined;
  let module: VerbModule | undefined;
  let headStart: HeadStart | undefined;
  let name: VerbName | undefined;
  try {
    const line = parseCommandLine(words);
    failureStatus = line.verb?.failureStatus;
    name = line.verb?.name;
    reporter = createReporter(line.global);
    if (line.global["trace"] !== undefined && !phase) {
      const begun = clock();
      const { traceTo } = await import("../trace/index.ts");
      const finish = traceTo(absolutePath(line.global["trace"] as string), line.verb?.name ?? "runt", begun);
      // Once more, under the eyes of the trace.
      return finish(await main(words));
    }
    if (line.global["help"] || line.flags["help"]) {
      const { helpText } = await import("./help.ts");
      const { calledName } = await import("./version.ts");
      print(helpText(line.verb, calledName()));
      return 0;
    }
    if (line.global["version"] || !line.verb) {
      const { printVersion } = await import("./version.ts");
      return printVersion();
    }
    if (line.global["debug"] || line.global["log-level"] === "debug") {
      const { debugTo, wantsSteps } = await import("./debug.ts");
      if (wantsSteps(line)) debugTo(reporter, line.verb.name);
    }
    module = await LOADERS[line.verb.name]();
    headStart = module.beginEarly?.(line);
    return module.verb(createContext(line, reporter), headStart);
  } catch (error) {
    if (headStart) module?.cancelEarly?.(headStart);
    const told = error instanceof RuntError && name ? (await import("./version.ts")).inCalledName(error, name) : error;
    reporter.error(told, isUsage(error) ? (await import("./commander.ts")).suggestion(words) : undefined);
    if (!(error instanceof RuntError)) return failureStatus ?? 1;
    return error.details.exitStatus ?? failureStatus ?? error.exitStatus;
  }
}

function isUsage(error: unknown): boolean {
  return error instanceof RuntError && (error.code === "usage" || error.code === "unknown-command") && error.details.hint === undefined;
}
