/** The state of one execution of a plan. Types only: every handler of an operation and every step after a failure needs them. */
import type * as host from "../host/index.ts";
import type { MovedDevice, NamespacePair } from "../network/index.ts";
import type { Plan } from "../plan/index.ts";
import type { ExecRecord, StateRecord } from "../state/index.ts";
import type { Progress } from "./progress.ts";

/** How long what was sent into a container that runs may take: exec and mounts. */
export interface Patience {
  /** On the monotonic clock, milliseconds. */
  readonly deadline?: number;
  /** What the caller has asked for, as a text, when there is a deadline. */
  readonly asked?: string;
  /** Whether it ends when the process has not run at all for a minute (slow.ts). */
  readonly movesOn: boolean;
  /** Called once, when a wait lasts. */
  readonly meanwhile?: () => void;
}

/** What execution knows so far; `record` grows from the intent to the committed state. */
export interface Execution {
  readonly root: string;
  readonly plan: Plan;
  /** From `state.intent` on. */
  record: StateRecord;
  /** The record to begin with; called once, before anything is done that lasts. */
  readonly intent?: () => StateRecord;
  /** What the record does not need to begin with, while init waits for its cgroups. */
  forExec?: () => ExecRecord;
  lock: number;
  helper: number;
  /** outer, when it stays for source.serve until init is in its root; 0: it does not. */
  server: number;
  socket: number;
  pid: number;
  /** Waits for the plan, until `helper.spawn`. */
  ahead?: HelperAhead;
  /** Master side of an own terminal (foreground), -1 if there is none. */
  console: number;
  /** FIFO that the sizes of the terminal come from, for the monitor of an exec. */
  sizes?: number;
  /** The listener of the seccomp filter until it is handed over. */
  listener?: number;
  netDevices?: NetDeviceMoves;
  /** The container's notification socket and the host's, when this process is the one that listens. */
  notification?: NotificationSockets;
  /** Received before it was waited for: outer's `pid` and init's first message race. */
  readonly early: host.Message[];
  readonly warnings: string[];
  /** Those of the warnings that the specification wants told to everybody: capabilities that the process does not get. */
  readonly demanded: string[];
  /** The state directory has more in it than every container's. */
  hasDirectory?: boolean;
  /** What is left to do of cgroups that are made. */
  readonly unfinished: (() => void)[];
  /** What was last written of the record as it will be; undefined before there is an init. */
  staged?: Staged;
  /** What can be made ready while init becomes the program. */
  meanwhile?: () => void;
  /** What bounds the wait for what the helper does; undefined: somebody who stops it. */
  patience?: Patience;
  /** A cgroup says whose it is. */
  marked?: boolean;
  /** Where whoever asks sees what is being done; undefined for exec. */
  progress?: Progress;
  /** config.json as it was read, which is kept beside the record; undefined for exec. */
  configText?: string;
}

/** A helper that was started before there is a plan. */
export interface HelperAhead {
  readonly pid: number;
  readonly socket: number;
  /** Memory that it shares. */
  readonly page: ArrayBuffer;
  /** Namespaces (CLONE_NEW*) it was told to make. */
  namespaces: number;
  /** Flags that it was told to clone init with; 0: that is left to the plan. */
  clone: number;
}

/** The network devices that have been moved or are about to be, in order. */
export interface NetDeviceMoves {
  readonly pair: NamespacePair;
  readonly devices: MovedDevice[];
}

/** Descriptors of a container that tells a service of its readiness. */
export interface NotificationSockets {
  /** Bound in the container's notify directory. */
  readonly container: number;
  /** Connected to the caller's NOTIFY_SOCKET. */
  readonly host: number;
}

/** A record beside the one in force: what it was made from, and how many warnings of the execution it has. */
export interface Staged {
  readonly from: StateRecord;
  readonly record: StateRecord;
  readonly warnings: number;
}
