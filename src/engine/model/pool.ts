/** The record of a pool. A pool whose spec changes is replaced by a new one of the same name; the old one ends when its last program has ended. */
import type { PoolSpec } from "../spec/index.ts";
import type { ImageRecord } from "./record.ts";

export interface PoolRecord {
  readonly version: 1;
  /** Like the id of a task (taskId), from the same revisions. */
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly spec: PoolSpec;
  readonly digest: string;
  /** Ids of the host that its containers have. */
  readonly users: { readonly first: number };
  /** Path of the file that the pool was applied from. Absent: the client has not named one. */
  readonly from?: string;
  /** The image that was pulled. null: it was not pulled yet, or the pool has a rootfs. */
  readonly image: Omit<ImageRecord, "stopSignal" | "healthCheck"> | null;
  readonly createdMs: number;
  /** Why no container can be made for it; absent: one can. */
  readonly failing?: { readonly code: string; readonly message: string; readonly sinceMs: number };
  /** It gives out no container any more, and is being removed. drain: programs that run may end. kill: they are killed. */
  readonly ending?: "drain" | "kill";
}

/** The pool that has a name: there is at most one. */
export function currentPool(pools: Iterable<PoolRecord>, group: string, name: string): PoolRecord | undefined {
  return [...pools].find((one) => one.group === group && one.name === name && one.ending === undefined);
}
