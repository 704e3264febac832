/** Computes when a task must be decided on again if no event comes before. */
import { CHECK_KINDS } from "./checks.ts";
import { dependencyDeadlines } from "./dependencies.ts";
import type { TaskRecord } from "./record.ts";
import { type Deadline, hasPassed, type Instant } from "./time.ts";

/** The next deadline in this boot, without those that have passed, which were decided on already. null: there is none. */
export function nextDeadline(record: TaskRecord, now: Instant): Deadline | null {
  const all: (Deadline | null | undefined)[] = [
    ...record.containers.flatMap((one) => [
      one.restartAt,
      one.stop.nextTry,
      one.update?.nextTry,
      ...CHECK_KINDS.map((kind) => one[kind]?.nextCheck),
      ...dependencyDeadlines(record, one),
    ]),
    ...record.resources.map(({ nextTry }) => nextTry),
    ...record.leftovers.map(({ nextTry }) => nextTry),
    record.cleanup?.retained,
    record.cleanup?.bound,
  ];
  return all.reduce<Deadline | null>((first, one) => {
    if (!one || hasPassed(one, now)) return first;
    return first === null || one.bootMs < first.bootMs ? one : first;
  }, null);
}
