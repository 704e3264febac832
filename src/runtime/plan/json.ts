import type { Plan } from "./plan.ts";

/** The plan as one line of JSON; 64-bit numbers are decimal strings, so that no reader rounds them. */
export function planJson(plan: Plan): string {
  return JSON.stringify(plan, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}
