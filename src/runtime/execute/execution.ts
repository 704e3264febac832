/** The state of one execution of a plan. Types only: every handler of an operation and every step after a failure needs them. */
import type { CgroupRef, UnfinishedCgroup } from "../cgroup/index.ts";
import type { ContainerConfig } from "../config/index.ts";
import type * as host from "../host/index.ts";
import type { MovedDevice, NamespacePair } from "../network/index.ts";
import type { Plan } from "../plan/index.ts";
import type { CgroupRecord, ResctrlRecord, StateRecord } from "../state/index.ts";
import type { Progress } from "./progress.ts";

/** How long a helper that was sent into a running container may take: exec and mounts. */
export interface Patience {
  /** On the monotonic clock, milliseconds. */
  readonly deadline?: number;
  /** What the caller has asked for, as a text, when there is a deadline. */
  readonly asked?: string;
  /** Whether it ends when the process has not run at all for a minute (slow.ts). */
  readonly movesOn: boolean;
  /** A lock that is released when a wait lasts; Execution.released tells. */
  readonly lock?: number;
}

/** A new container: its compiled bundle, and what its caller has said of it. */
export interface Blueprint {
  readonly id: string;
  /** Absolute bundle directory. */
  readonly bundle: string;
  readonly config: ContainerConfig;
  /** config.json as it was read, which is kept beside the record. */
  readonly configText: string;
  readonly plan: Plan;
  readonly cgroup?: CgroupRef & Pick<CgroupRecord, "systemd">;
  readonly resctrl?: ResctrlRecord;
  /** It gets a session keyring of its own. */
  readonly keyring: boolean;
  readonly warnings: readonly string[];
  /** See Execution. */
  readonly demanded: readonly string[];
  /** Of the plan that was expected. */
  readonly digest?: string;
}

/** What execution knows so far; `record` grows from the intent to the committed state. */
export interface Execution {
  readonly root: string;
  readonly plan: Plan;
  /** From `state.intent` on. */
  record: StateRecord;
  /** undefined: the container exists, and `record` is known from the beginning. */
  blueprint?: Blueprint;
  lock: number;
  helper: number;
  /** The intermediate, when it stays for source.serve until init is in its root; 0: it does not. */
  server: number;
  socket: number;
  pid: number;
  /** Adopted by `helper.spawn`. */
  headStart?: HeadStart;
  /** Master side of an own terminal (foreground), -1 if there is none. */
  console: number;
  /** FIFO that the sizes of the terminal come from, for the monitor of an exec. */
  sizes?: number;
  /** The listener of the seccomp filter until it is handed over. */
  listener?: number;
  netDevices?: NetDeviceMoves;
  /** The container's notification socket and the host's, when this process is the one that listens. */
  notification?: NotificationSockets;
  /** Received before it was waited for: the intermediate's `pid` and init's first message race. */
  readonly early: host.Message[];
  readonly warnings: string[];
  /** Warnings that the specification wants logged: capabilities that the process does not get. */
  readonly demanded: string[];
  /** The state directory has more in it than every container's. */
  hasDirectory?: boolean;
  /** Cgroups that are made and cannot be joined yet. */
  readonly unfinished: UnfinishedCgroup[];
  /** The record for `commit`, as it was last written; undefined before there is an init. */
  staged?: Staged;
  /** This process is to become the container's monitor. */
  monitored?: { readonly keep: boolean };
  /** What the monitor needs, made while init becomes the program. */
  monitor?: MonitorPreparation;
  /** What bounds the wait for what the helper does; undefined: somebody who stops it. */
  patience?: Patience;
  /** The lock of `patience` has been released. */
  released?: boolean;
  /** A cgroup says whose it is. */
  marked?: boolean;
  /** The page that `inspect` reads to see what is being done; undefined for exec. */
  progress?: Progress;
}

/** The head start of a container, begun before its configuration is read. */
export interface HeadStart {
  /** undefined: nothing was to be begun. */
  readonly progress: Progress | undefined;
  /** undefined: none was started, or it has been adopted or ended. */
  helper: EarlyHelper | undefined;
}

/** A helper that waits for its plan. */
export interface EarlyHelper {
  readonly pid: number;
  readonly socket: number;
  /** Memory that it shares. */
  readonly page: ArrayBuffer;
  /** Namespaces (CLONE_NEW*) it was told to make. */
  namespaces: number;
  /** Flags that it was told to clone init with; 0: that is left to the plan. */
  clone: number;
}

/** What the monitor needs and does not depend on the container's start. */
export interface MonitorPreparation {
  /** This program, for `runt delete`. */
  readonly self: number;
  readonly cleanup: readonly string[];
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
