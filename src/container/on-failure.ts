/** What only failures need. */
import { loadedNow } from "../host/lazy.ts";
import type { helperError as whatHelperReports } from "./helper-error.ts";
import type * as undoing from "./undo.ts";

/** For a create that has failed. */
export function onFailure(): typeof undoing {
  return loadedNow(import("./undo.ts"));
}

/** For a helper that has failed. */
export function helperError(): typeof whatHelperReports {
  return loadedNow(import("./helper-error.ts")).helperError;
}
