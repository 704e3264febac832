/** What create and run seldom ask of this room: loaded when they do. */
import { loadSync } from "../host/index.ts";
import type * as printing from "./print-plan.ts";
import type * as recording from "./recorded.ts";

/** For --dry-run. */
export function dryRun(): typeof printing {
  return loadSync(import("./print-plan.ts"));
}

/** For --exit-record. */
export function recorded(): typeof recording {
  return loadSync(import("./recorded.ts"));
}
