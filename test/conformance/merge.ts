/** Outcomes of another host (the guest with cgroup v2) put in where this one had to skip. */
import type { Outcomes } from "./table.ts";

export function merge(here: Outcomes, there: Outcomes): Outcomes {
  return new Map(
    [...here].map(([id, outcome]) => {
      const other = there.get(id);
      return [
        id,
        outcome.result === "skipped" && other !== undefined && other.result !== "skipped" ? { ...other, elsewhere: true } : outcome,
      ];
    }),
  );
}
