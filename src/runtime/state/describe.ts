/** The state of a container as `state` and `list` print it (runtime.md#state, with runc's extra fields and order). */
import { SUMMARY_MEMBERS } from "../../shared/protocol/index.ts";
import { type CgroupRef, isAnothers, isFrozen, isFrozenToShow } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { fifoPath } from "../plan/index.ts";
import { type AnyRecord, STATE_MINOR, STATE_SCHEMA, type StateRecord, type StateSummary } from "./record.ts";
import { markingOf } from "./root.ts";
import { containerDirectory, isLocked, lock, readAgain, readWith, recordAt, refuseMoved } from "./store.ts";

export interface ContainerState {
  readonly ociVersion: string;
  readonly id: string;
  /** 0 when stopped. */
  readonly pid: number;
  readonly status: Status;
  readonly bundle: string;
  readonly rootfs: string;
  readonly created: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner: string;
}

/** @param root state root, absolute */
export function describe(root: string, id: string): ContainerState {
  const record = readSummary(root, id);
  return toState(record, deriveStatus(root, record, false, undefined, isFrozenToShow), "");
}

export function toState(record: StateSummary, status: Status, owner: string): ContainerState {
  return {
    ociVersion: record.ociVersion,
    id: record.id,
    pid: status === "stopped" ? 0 : record.pid,
    status,
    bundle: record.bundle,
    rootfs: record.rootfs,
    created: record.created,
    ...(Object.keys(record.annotations).length === 0 ? {} : { annotations: record.annotations }),
    owner,
  };
}

/**
 * What `state` and `list` need of a record, without parsing all of it: a list reads thousands. As
 * readRecord, where nothing but the summary is used.
 */
export function readSummary(root: string, id: string): StateSummary {
  return readWith((path) => (peek(path) as AnyRecord | undefined) ?? recordAt(path), root, id, false);
}

const TARGET_MEMBERS = `${SUMMARY_MEMBERS} privatePid directory machine`;

/** The same with what decides whom a signal to the container is for. */
export function readTarget(root: string, id: string): StateSummary & Pick<StateRecord, "privatePid" | "directory" | "machine"> {
  const read = (path: string) => (peek(path, undefined, undefined, TARGET_MEMBERS) as AnyRecord | undefined) ?? recordAt(path);
  return refuseMoved(root, readWith(read, root, id, false));
}

/** A container that no other verb works on, because this one holds its lock by the descriptor `held`. */
export interface LockedContainer {
  readonly record: StateRecord;
  readonly directory: string;
  readonly held: number;
}

/**
 * Locks a container and reads its record. That it is not there, or not ours, is told before the lock is waited for; what else the record has is read
 * under the lock alone, for another verb may change it until then.
 * @throws RuntError as readTarget, lock and readAgain
 */
export function lockRecord(root: string, id: string): LockedContainer {
  readTarget(root, id);
  const directory = containerDirectory(root, id);
  const held = lock(directory);
  return { record: readAgain(root, id), directory, held };
}

/**
 * The summary of a sound record of this build, or of a newer one of its schema; undefined when there is more to say: readSummary says it.
 * `directory`: a descriptor of that which the path is relative to. `former`: one that is not used any more.
 * @throws HostError
 */
export function peek(path: string, directory?: number, former?: StateSummary, members = SUMMARY_MEMBERS): StateSummary | undefined {
  const found = host.readMembers(path, members, directory, former) as Partial<StateRecord> | undefined;
  const minor = found?.minor as number;
  return found !== undefined &&
    found.schema === STATE_SCHEMA &&
    // An integer of 32 bits, without a call.
    (minor | 0) === minor &&
    minor >= STATE_MINOR &&
    typeof found.id === "string" &&
    typeof found.pid === "number" &&
    typeof found.startTime === "string" &&
    typeof found.bundle === "string" &&
    typeof found.annotations === "object" &&
    found.annotations !== null &&
    (found.cgroup === undefined || Array.isArray(found.cgroup?.paths))
    ? (found as StateSummary)
    : undefined;
}

export type Status = "creating" | "created" | "running" | "paused" | "stopped";

/**
 * What a container is doing, derived from the kernel and the state directory, never stored. `locked`:
 * by this verb itself, so create cannot be at work. `frozen`: says it of the container whose init is
 * in this state of proc_pid_stat(5).
 */
export function deriveStatus(
  root: string,
  record: StateSummary,
  locked = false,
  directory = containerDirectory(root, record.id),
  frozen: (cgroup: CgroupRef, state: string) => boolean = isFrozen,
): Status {
  const status = deriveLife(root, record, locked, directory, frozen);
  if (status !== "alive") return status;
  return host.access(fifoPath(directory), EXISTS) ? "created" : "running";
}

/** The same for a verb to which it makes no difference whether the program has been started. */
export function deriveLife(
  root: string,
  record: StateSummary,
  locked = false,
  directory = containerDirectory(root, record.id),
  frozen: (cgroup: CgroupRef, state: string) => boolean = isFrozen,
): Exclude<Status, "created" | "running"> | "alive" {
  if (record.phase === "creating") return !locked && isLocked(directory) ? "creating" : "stopped";
  const state = initState(record);
  if (!state) return "stopped";
  // Few are frozen, and only of those it is asked whether their cgroup is another container's by now.
  const isPaused = record.cgroup && frozen(record.cgroup, state) && !isAnothers(record.cgroup, markingOf(root, record.id));
  return isPaused ? "paused" : "alive";
}

/** F_OK of access(2). */
const EXISTS = 0;

/** As host.runningState: state letter while init is the process that was started, and neither dead nor a zombie; undefined otherwise. */
export function initState({ pid, startTime }: StateSummary): string | undefined {
  return host.runningState(pid, startTime);
}
