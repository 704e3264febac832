/** What differs between two sets of settings. Pure. */
import type { Effective } from "./effective.ts";

export interface Difference {
  readonly setting: string;
  /** undefined: it is not there. */
  readonly before?: string;
  readonly after?: string;
}

/** Sorted by name. */
export function differences(before: Effective, after: Effective): Difference[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [one, other] = [before.get(name), after.get(name)];
    if (one === other) return [];
    return { setting: name, ...(one !== undefined && { before: one }), ...(other !== undefined && { after: other }) };
  });
}
