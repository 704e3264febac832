/** Events for the outside: the model's changes, each with its task. */
import type { Change, TaskRecord } from "../model/index.ts";

interface OfTask {
  readonly task: string;
  readonly group: string;
  readonly name: string;
  /** Milliseconds since the epoch, for display: the order is that of the sequence numbers. */
  readonly wallMs: number;
}

/** Who has asked for a change. */
export interface Caller {
  readonly uid: number;
  readonly pid: number;
}

export type ChangeRequest = "apply" | "delete" | "stop" | "restart" | "rollback";

export type EngineEvent = OfTask &
  (
    | Change
    | { readonly type: "added"; readonly digest: string }
    /** Somebody has asked for a change. What becomes of it follows. */
    | { readonly type: "request"; readonly request: ChangeRequest; readonly by: Caller }
    /** Nothing of it is left. */
    | { readonly type: "removed" }
  );

export function ofTask({ id, group, name }: TaskRecord, wallMs: number): OfTask {
  return { task: id, group, name, wallMs };
}
