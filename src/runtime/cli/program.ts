/** `runt`: parse, run the verb that was asked for, report. */

import { RuntError } from "../errors/index.ts";

import type { HeadStart } from "../execute/head-start/index.ts";
import { argv, clock, exit, phase } from "../host/index.ts";
import { traceTo } from "../trace/index.ts";
import { suggestion } from "./commander.ts";
import * as check from "./commands/check.ts";
import * as control from "./commands/control.ts";
import * as create from "./commands/create.ts";
import * as criu from "./commands/criu.ts";
import * as diff from "./commands/diff.ts";
import * as documents from "./commands/documents.ts";
import * as events from "./commands/events.ts";
import * as exec from "./commands/exec.ts";
import * as explain from "./commands/explain.ts";
import * as gc from "./commands/gc.ts";
import * as inspect from "./commands/inspect.ts";
import * as list from "./commands/list.ts";
import * as machine from "./commands/machine.ts";
import * as ps from "./commands/ps.ts";
import * as service from "./commands/service.ts";
import * as validate from "./commands/validate.ts";
import { absolutePath, createContext, type Verb } from "./context.ts";
import { beginEarly, cancelEarly } from "./create-options.ts";
import { debugTo, wantsSteps } from "./debug.ts";
import { helpText } from "./help.ts";
import { print } from "./output.ts";
import { type CommandLine, parseCommandLine } from "./parse.ts";
import { createReporter, type Reporter } from "./report.ts";
import type { VerbName } from "./table/index.ts";
import { calledName, inCalledName, printVersion } from "./version.ts";

interface VerbModule {
  readonly verb: Verb;
  /** Called first of all, where a verb has it; `cancelEarly` after an error. */
  readonly beginEarly?: (line: CommandLine) => HeadStart | undefined;
  readonly cancelEarly?: (headStart: HeadStart) => void;
}

const MODULES: Readonly<Record<VerbName, VerbModule>> = {
  create: { verb: create.create, beginEarly, cancelEarly },
  start: { verb: control.start },
  state: { verb: control.state },
  gc,
  kill: { verb: control.kill },
  delete: { verb: control.remove },
  run: { verb: create.run, beginEarly, cancelEarly },
  exec,
  ps,
  pause: { verb: control.pause },
  resume: { verb: control.resume },
  update: { verb: control.update },
  checkpoint: { verb: criu.checkpoint },
  restore: { verb: criu.restore },
  events,
  mounts: { verb: control.changeMounts },
  list,
  spec: { verb: documents.spec },
  features: { verb: documents.features },
  plan: { verb: create.plan },
  completion: { verb: documents.completion },
  validate,
  check,
  inspect,
  diff,
  schema: { verb: documents.schema },
  explain,
  service,
  machine,
};

/** The whole life of a `runt` process. */
export function runt(): never {
  return exit(main(argv().slice(1)));
}

function main(words: readonly string[]): number {
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
      const finish = traceTo(absolutePath(line.global["trace"] as string), line.verb?.name ?? "runt", begun);
      // Once more, under the eyes of the trace.
      return finish(main(words));
    }
    if (line.global["help"] || line.flags["help"]) {
      print(helpText(line.verb, calledName()));
      return 0;
    }
    if (line.global["version"] || !line.verb) {
      return printVersion();
    }
    if (line.global["debug"] || line.global["log-level"] === "debug") {
      if (wantsSteps(line)) debugTo(reporter, line.verb.name);
    }
    module = MODULES[line.verb.name];
    headStart = module.beginEarly?.(line);
    return module.verb(createContext(line, reporter), headStart);
  } catch (error) {
    if (headStart) module?.cancelEarly?.(headStart);
    const told = error instanceof RuntError && name ? inCalledName(error, name) : error;
    reporter.error(told, isUsage(error) ? suggestion(words) : undefined);
    if (!(error instanceof RuntError)) return failureStatus ?? 1;
    return error.details.exitStatus ?? failureStatus ?? error.exitStatus;
  }
}

function isUsage(error: unknown): boolean {
  return error instanceof RuntError && (error.code === "usage" || error.code === "unknown-command") && error.details.hint === undefined;
}
