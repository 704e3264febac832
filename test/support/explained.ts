/** A plan as golden files have it: everything that `runt plan --explain` shows. */
import { type Plan, printPlan, systemCallsOf } from "../../src/runtime/plan/index.ts";

export function explained(plan: Plan): string {
  return printPlan(plan, { explain: systemCallsOf });
}
