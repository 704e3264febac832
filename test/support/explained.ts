/** A plan as golden files have it: everything that `runt plan --explain` shows. */
import { type Plan, printPlan } from "../../src/plan/index.ts";
import { systemCallsOf } from "../../src/plan/system-calls.ts";

export function explained(plan: Plan): string {
  return printPlan(plan, { explain: systemCallsOf });
}
