/** create: compile the bundle, and make the container. */

import { type HeadStart, hint } from "../execute/head-start/index.ts";
import { type Execution, newContainer } from "../execute/index.ts";
import { phase } from "../host/index.ts";
import { type CreateOptions, compileFor, type RuntimeOptions } from "../prepare/index.ts";

/** The caller cancels the head start after an error. @throws RuntError; then nothing is left */
export function create(options: RuntimeOptions, request: CreateOptions, headStart: HeadStart): Execution {
  phase?.("verb", "verbs");
  hint(headStart, options, request);
  return newContainer(options.root, compileFor(options, request), headStart);
}
