/** The interfaces that others provide, as data. Pure. */
import { type Deadline, hasPassed, type Instant } from "../../model/index.ts";
import type { InterfaceState } from "../desired/journal.ts";

export interface AttachedInterface {
  /** Name on the host. */
  readonly name: string;
  readonly deadline: Deadline;
  readonly attachedWallMs: number;
  /** Id of the task that has taken it; null: none has. */
  readonly task: string | null;
}

/** What becomes of the list, and what is told of it. */
export interface InterfaceChange {
  readonly interfaces: readonly AttachedInterface[];
  readonly told: readonly { readonly interface: AttachedInterface; readonly state: InterfaceState }[];
}

/** Drops interfaces that nobody has taken in time, and those of tasks that do not exist any more. */
export function withoutExpired(
  all: readonly AttachedInterface[],
  now: Instant,
  isKnown: (task: string) => boolean = () => true,
): InterfaceChange {
  const stateOf = ({ deadline, task }: AttachedInterface): InterfaceState | undefined => {
    if (task === null) return hasPassed(deadline, now) ? "expired" : undefined;
    return isKnown(task) ? undefined : "released";
  };
  return {
    interfaces: all.filter((one) => stateOf(one) === undefined),
    told: all.flatMap((one) => {
      const state = stateOf(one);
      return state === undefined ? [] : [{ interface: one, state }];
    }),
  };
}

/** An interface as clients see it. */
export interface InterfaceView {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly attachedMs: number;
  /** How long it still waits for a task; null: one has taken it. */
  readonly leftMs: number | null;
  readonly task: string | null;
}

export function interfaceViewOf({ name, attachedWallMs, deadline, task }: AttachedInterface, now: Instant): InterfaceView {
  return { name, attachedMs: attachedWallMs, leftMs: task === null ? Math.max(0, deadline.bootMs - now.bootMs) : null, task };
}
