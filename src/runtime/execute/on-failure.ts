/** What only failures need. */
import { loadSync } from "../host/index.ts";
import type * as force from "./forced.ts";
import type { helperError as whatHelperReports } from "./helper-error.ts";
import type * as ending from "./interrupted.ts";
import type * as undoing from "./rollback.ts";
import type * as waiting from "./slow.ts";
import type * as slowStarting from "./slow-start.ts";

/** For a create that has failed. */
export function onFailure(): typeof undoing {
  return loadSync(import("./rollback.ts"));
}

/** For a helper that has failed. */
export function helperError(): typeof whatHelperReports {
  return loadSync(import("./helper-error.ts")).helperError;
}

/** For a container on which another verb works while it is removed by force. */
export function forced(): typeof force {
  return loadSync(import("./forced.ts"));
}

/** For a wait that lasts. */
export function slow(): typeof waiting {
  return loadSync(import("./slow.ts"));
}

/** For a start that lasts. */
export function slowStart(): typeof slowStarting {
  return loadSync(import("./slow-start.ts"));
}

/** For a wait that a signal has ended. */
export function interrupted(): typeof ending {
  return loadSync(import("./interrupted.ts"));
}
