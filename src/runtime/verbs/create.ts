/** create: compile the bundle, and make the container. */
import type { Execution } from "../execute/execution.ts";
import { type HeadStart, hint } from "../execute/head-start/index.ts";
import { newContainer } from "../execute/new-container.ts";
import { phase } from "../host/observer.ts";
import { compileFor } from "../prepare/compile-for.ts";
import type { CreateOptions, RuntimeOptions } from "../prepare/options.ts";

/** The caller cancels the head start after an error. @throws RuntError; then nothing is left */
export function create(options: RuntimeOptions, request: CreateOptions, headStart: HeadStart): Execution {
  phase?.("verb", "verbs");
  hint(headStart, options, request);
  return newContainer(options.root, compileFor(options, request), headStart);
}
