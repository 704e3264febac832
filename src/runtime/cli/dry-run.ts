/** Printing a plan, loaded for a dry run only: what makes containers does not pay for it. */
import { loadedNow } from "../host/index.ts";
import type * as printing from "./print-plan.ts";

export function dryRun(): typeof printing {
  return loadedNow(import("./print-plan.ts"));
}
