/** Printing a plan, loaded for a dry run only: what makes containers does not pay for it. */
import { loadSync } from "../host/index.ts";
import type * as printing from "./print-plan.ts";

export function dryRun(): typeof printing {
  return loadSync(import("./print-plan.ts"));
}
