/** Recorded counts of a build, and their comparison with measured ones. Pure. */

/** Name -> count: "instructions create", "calls state", "heap run", "binary". */
export type Counts = Readonly<Record<string, number>>;

/** Properties of the host on which the counts depend. Counts of another host mean nothing. */
export type Facts = Readonly<Record<string, string>>;

export interface Recording {
  readonly facts: Facts;
  readonly counts: Counts;
}

/** How far from the record a count may be, up and down. */
export const TOLERANCE = 0.03;

export interface Verdict {
  readonly name: string;
  readonly recorded: number | undefined;
  readonly measured: number | undefined;
  /** undefined: as recorded. */
  readonly fault: string | undefined;
}

/** Every count of either side. One that is smaller is a fault too: a record that is too high guards nothing. */
export function compare(recorded: Counts, measured: Counts): Verdict[] {
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(measured)])];
  return names.map((name) => ({
    name,
    recorded: recorded[name],
    measured: measured[name],
    fault: faultOf(recorded[name], measured[name]),
  }));
}

function faultOf(recorded: number | undefined, measured: number | undefined): string | undefined {
  if (recorded === undefined) return "it is not recorded: make guard GUARD=--write";
  if (measured === undefined) return "it was not measured: make guard GUARD=--write, if there is nothing to measure any more";
  const change = changeFrom(recorded, measured);
  if (Math.abs(change) <= TOLERANCE) return undefined;
  const percent = `${measured} instead of ${recorded} (${changeOf(recorded, measured)})`;
  return change > 0
    ? `${percent}: find out why, or argue for it in the commit that records it`
    : `${percent}: better; record it with make guard GUARD=--write`;
}

const changeFrom = (recorded: number, measured: number) => (recorded === 0 ? measured : (measured - recorded) / recorded);

/** "+3.1 %"; nothing where only one of both is known. */
export function changeOf(recorded: number | undefined, measured: number | undefined): string {
  if (recorded === undefined || measured === undefined) return "";
  const change = changeFrom(recorded, measured);
  return `${change > 0 ? "+" : ""}${(change * 100).toFixed(1)} %`;
}

/** Limits of every build, whatever is recorded. */
const LIMITS: readonly (readonly [pattern: RegExp, most: number])[] = [[/^size binary$/, 9_000_000]];

/** The counts above these limits. */
export function aboveLimits(measured: Counts): string[] {
  return Object.entries(measured).flatMap(([name, count]) =>
    LIMITS.filter(([pattern, most]) => pattern.test(name) && count > most).map(([, most]) => `${name}: ${count}, at most ${most}`),
  );
}

/** Sizes are those of the build, whatever host it is on. */
const OF_BUILD = /^size /;
const BUILD_FACTS = ["architecture", "compiler"];

/**
 * What can be held against a record here: everything where a host like this one was recorded, else the sizes, if the build is alike.
 * `skipped`: why the rest cannot.
 */
export function comparable(records: readonly Recording[], facts: Facts): { readonly counts: Counts; readonly skipped?: string } {
  const same = records.find((record) => differences(record.facts, facts).length === 0);
  if (same) return { counts: same.counts };
  const built = records.find((record) =>
    differences(record.facts, facts).every((line) => !BUILD_FACTS.some((name) => line.startsWith(`${name}:`))),
  );
  const nearest = built ?? records[0];
  const skipped = nearest ? differences(nearest.facts, facts).join("; ") : "nothing is recorded";
  const counts = Object.entries(built?.counts ?? {}).filter(([name]) => OF_BUILD.test(name));
  return { counts: Object.fromEntries(counts), skipped };
}

/** "kernel: 6.1, not 6.18": why no record does. */
export function differences(recorded: Facts, facts: Facts): string[] {
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(facts)])];
  return names
    .filter((name) => recorded[name] !== facts[name])
    .map((name) => `${name}: ${facts[name] ?? "none"}, not ${recorded[name] ?? "none"}`);
}
