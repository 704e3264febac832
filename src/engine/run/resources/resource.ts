/** What a task has on the host beside the processes of its containers. Each kind is one object of this shape, and parts.ts has the list of them. */

import type { Mount } from "../../../executor/index.ts";
import { type Patience, unmountBelow } from "../../../node/index.ts";
import type { NetworkRecord, TaskRecord } from "../../model/index.ts";
import { makeOwnDirectory, removeOwnTree } from "../../own/index.ts";
import type { Incarnation, Placement } from "../../plan/index.ts";
import { removeOther } from "../../volumes/index.ts";

/**
 * One kind of resource. It has the functions that it needs, and no others.
 *
 * The order of the list is the order of preparing: `check`, `prepare`, `contribute`, `started` and `update` are called from its beginning to its end. `release`, `forget` and
 * `sweep` are called in the reverse order, so that what was made last goes first. A function that fails ends the pass, but for `sweep`, which returns what it could not remove.
 *
 * Each function may be called again after a crash at any point, and has to succeed if its work is done already.
 */
export interface TaskResource {
  /** Its name in the daemon's log: what `sweep` could not remove is told as NAME-left. */
  readonly name: string;
  /** How many are made, and removed, at once; absent: as many as are asked for. */
  readonly atOnce?: { readonly make: number; readonly unmake: number };

  /** Whether a member of the record's `resources` is of this kind. The model decides when such a member is made and removed, and the store has that decision before. */
  owns?(member: string): boolean;
  /** @param patience for paths whose server does not answer yet */
  make?(record: TaskRecord, member: string, patience: Patience): Promise<Made>;
  unmake?(record: TaskRecord, member: string): Promise<void>;

  /**
   * Paths of the host that the container names and that `check` and `contribute` open. The caller makes sure that their mounts answer: both functions have the thread of the
   * daemon, so that a server that does not answer would stall everything.
   */
  paths?(record: TaskRecord, container: string): readonly string[];
  /** Looks at what a container names, before its image is pulled and anything is made. @throws Error: the message says what is missing */
  check?(record: TaskRecord, container: string): void;
  /** Prepares one incarnation, before it is created. @param signal aborted when the request was cancelled */
  prepare?(record: TaskRecord, incarnation: Incarnation, signal: AbortSignal): void | Promise<void>;
  /** For what a start has to wait, without keeping others from theirs; undefined: for nothing. */
  waitsFor?(record: TaskRecord, incarnation: Incarnation): Promise<void> | undefined;
  /** For what a task waits before a container of it is stopped, or its hook preStop runs; undefined: for nothing. */
  leaves?(record: TaskRecord): Promise<void> | undefined;
  /** What one incarnation is launched with. Called immediately before, when the addresses of the network are known. */
  contribute?(record: TaskRecord, incarnation: Incarnation): Contribution;
  /** Called after the start, and again by the next daemon while the container runs. @param startedMs milliseconds since the epoch */
  started?(record: TaskRecord, incarnation: Incarnation, startedMs: number): void;
  /** The task has another spec, and its containers run on. */
  update?(record: TaskRecord): void | Promise<void>;
  /** Removes what one incarnation had, after it was removed from the runtime. */
  release?(task: string, runtimeId: string): Promise<void>;

  /**
   * Removes what the task had, after its containers and what `unmake` removes are gone.
   * @param record undefined: the store has lost the task, so that `unmake` was not called
   */
  forget?(task: string, record: TaskRecord | undefined): void | Promise<void>;

  /** Removes what belongs to nobody, at the start of the daemon. Nothing is made meanwhile. Returns what could not be removed. */
  sweep?(known: Known): Promise<readonly unknown[]>;
  /** Called once at the start, before the first event is processed. */
  restored?(): void;
  /** The engine is being closed: its timers end. */
  stop?(): void;
}

/** What the record of the task keeps of a resource. */
export interface Made {
  readonly network?: NetworkRecord;
}

/** What a launch gets. Mounts come in the order of the list, behind those of the container's spec; variables of the spec take precedence over `engineEnv`. */
export interface Contribution
  extends Pick<
    Placement,
    "mounts" | "engineEnv" | "secretEnv" | "network" | "resolv" | "users" | "image" | "sources" | "devices" | "holders"
  > {
  /** Called when the container is launched, or will not be. */
  close?(): void;
}

/** What the store and the disk have at the start. */
export interface Known {
  readonly records: readonly TaskRecord[];
  /** Runtime ids of all containers that may exist. */
  readonly containers: ReadonlySet<string>;
  /** Runtime ids of those among them that the store does not know. */
  readonly unknown: readonly string[];
}

/** Whether the task is in the store, or a container of it exists. */
export function isKnownTask({ records, unknown }: Known, id: string): boolean {
  return records.some((one) => one.id === id) || unknown.some((one) => one.startsWith(`${id}.`));
}

/** Removes what is left of a task. @param record undefined: the store does not know it */
export async function forgetTask(resources: readonly TaskResource[], id: string, record: TaskRecord | undefined): Promise<void> {
  for (const resource of resources.toReversed()) await resource.forget?.(id, record);
}

/** Removes what one incarnation had. */
export async function releaseIncarnation(resources: readonly TaskResource[], task: string, runtimeId: string): Promise<void> {
  for (const resource of resources.toReversed()) await resource.release?.(task, runtimeId);
}

/** A bind mount of a file or directory that the engine has made. */
export function engineMount(destination: string, source: string, access: "ro" | "rro" | "rw"): Mount {
  return { destination, source, type: "bind", options: ["bind", "rprivate", "nosuid", "nodev", "noexec", "src-nofollow", access] };
}

/**
 * Makes the directory that a task has in one of the places of the state directory. A link or a file that has its name is removed itself, so that nothing is written to
 * where a link leads. May be repeated. @throws the errors of the system calls
 */
export function makeTaskDirectory(path: string): void {
  removeOther(path);
  makeOwnDirectory(path, { mode: 0o700 });
}

/** Removes a directory of a task. A directory of the host may be mounted in it: that is unmounted first, so that nothing of its content is removed. */
export async function removeTaskDirectory(path: string): Promise<void> {
  await unmountBelow(path);
  removeOwnTree(path);
}
