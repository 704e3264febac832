/** Assigns ranges of user and group ids of the host to tasks with users of their own. Pure. */
import type { TaskSpec } from "../spec/index.ts";
import type { TaskRecord } from "./record.ts";

/** A task or a pool. */
type HasUsers = Pick<TaskRecord, "users">;

/** How many ids a task has: those that a 16-bit id can have, as in Kubernetes. */
export const USERS_OF_A_TASK = 65_536;

/** Ids of the host that are set aside for tasks. */
export interface UserRange {
  readonly first: number;
  readonly count: number;
}

/** Above the ids that distributions and systemd assign. Source: systemd, "Users, Groups, UIDs and GIDs on systemd Systems". */
export const DEFAULT_USERS: UserRange = { first: 0x7000_0000, count: 0x1000_0000 };

/** Of tasks and pools whose records exist: what one has is free again when its record is removed. */
export class UserRanges {
  readonly #taken: Set<number>;
  readonly #range: UserRange;

  constructor(records: readonly HasUsers[], range: UserRange) {
    this.#taken = new Set(records.flatMap(({ users }) => users?.first ?? []));
    this.#range = range;
  }

  /** The lowest range that no task has. "none": the task needs none. "full": all are taken. */
  take({ privateUsers }: Pick<TaskSpec, "privateUsers">): { readonly first: number } | "none" | "full" {
    if (!privateUsers) return "none";
    const { first, count } = this.#range;
    const most = Math.floor(count / USERS_OF_A_TASK);
    for (let at = 0; at < most; at++) {
      const start = first + at * USERS_OF_A_TASK;
      if (this.#overlaps(start)) continue;
      this.#taken.add(start);
      return { first: start };
    }
    return "full";
  }

  /** A daemon with another range before may have given ids that begin elsewhere. */
  #overlaps(start: number): boolean {
    if (this.#taken.has(start)) return true;
    return [...this.#taken].some((other) => Math.abs(other - start) < USERS_OF_A_TASK);
  }
}
