/** Events for users of the engine: the changes of the model, with the task that each belongs to. */
import type { Change, Reason, RolloutTold, ScheduleState, TaskRecord } from "../../model/index.ts";

interface OfTask {
  readonly task: string;
  readonly group: string;
  readonly name: string;
  /** Milliseconds since the epoch, for display only. Events are ordered by their sequence numbers. */
  readonly wallMs: number;
}

/** The user who asked for a change. */
export interface Caller {
  readonly uid: number;
  readonly pid: number;
  /** A watched file with its commit, or another source of the request; absent: a client has asked. */
  readonly via?: string | undefined;
}

export type ChangeRequest = "apply" | "delete" | "stop" | "start" | "restart" | "rollback" | "scale";

/** pending: it was announced. used: a task has taken it. released: its task has given it back. expired: no task has taken it in time. detached: the announcement was taken back. */
export type InterfaceState = "pending" | "used" | "released" | "expired" | "detached";

/** An interface of the host that somebody else provides for a task. */
export interface InterfaceEvent {
  readonly type: "interface";
  /** Its name on the host. */
  readonly interface: string;
  readonly state: InterfaceState;
  /** Id of the task that has it, or had it; null: none. */
  readonly task: string | null;
  /** Who has asked; absent: nobody has, or the engine itself. */
  readonly by?: Caller | undefined;
  readonly wallMs: number;
}

/** Another program had removed or changed rules of the packet filter, and they were written again. */
export interface PacketFilterEvent {
  readonly type: "packetFilter";
  readonly message: string;
  readonly wallMs: number;
}

/** Something has become of a rollout, or of one of its replicas. */
export interface RolloutEvent {
  readonly type: "rollout";
  readonly group: string;
  /** Of the service. */
  readonly name: string;
  /** Number of the version to which it leads. */
  readonly revision: number;
  readonly state: RolloutTold["state"];
  /** Name of the replica; absent: it concerns all. */
  readonly replica?: string | undefined;
  /** Id of the replica's task; null: none. */
  readonly task: string | null;
  readonly reason?: Reason | undefined;
  /** Who has asked; absent: nobody has. */
  readonly by?: Caller | undefined;
  readonly wallMs: number;
}

/** A watched file was applied or refused, or its tasks differ from it. */
export interface WatchEvent {
  readonly type: "watch";
  /** applied, removed: its tasks were changed or removed. drifted: others have changed them since. matches: they are as the file says again. */
  readonly state: "applied" | "removed" | "refused" | "drifted" | "matches";
  /** Of the file, or of the directory. */
  readonly path: string;
  /** null: it is not known. */
  readonly group: string | null;
  readonly message: string;
  /** Of git, if the file is in a work tree. */
  readonly commit?: string | undefined;
  readonly wallMs: number;
}

/** added: it was applied. failing: its containers cannot be made. recovered: they can again. ending: it is being removed. removed: nothing of it is left. */
export type PoolState = "added" | "failing" | "recovered" | "ending" | "removed";

/** Something has become of a pool. */
export interface PoolEvent {
  readonly type: "pool";
  /** Its id. */
  readonly pool: string;
  /** A pool is no task. */
  readonly task: null;
  readonly group: string;
  readonly name: string;
  readonly state: PoolState;
  /** Of failing: why. */
  readonly message?: string | undefined;
  /** Who has asked; absent: nobody has. */
  readonly by?: Caller | undefined;
  readonly wallMs: number;
}

export type EngineEvent = WatchEvent | InterfaceEvent | PacketFilterEvent | RolloutEvent | PoolEvent | TaskJournalEvent;

export type TaskJournalEvent = OfTask &
  (
    | Change
    | { readonly type: "added"; readonly digest: string }
    /** A user has asked for a change. The events that it causes follow. */
    | { readonly type: "request"; readonly request: ChangeRequest; readonly by: Caller }
    /** A time of the schedule was decided on. `atMs`: that time, in milliseconds since the epoch. */
    | { readonly type: "schedule"; readonly state: ScheduleState; readonly atMs: number }
    /** The task was removed completely. */
    | { readonly type: "removed" }
  );

export function ofTask({ id, group, name }: TaskRecord, wallMs: number): OfTask {
  return { task: id, group, name, wallMs };
}
