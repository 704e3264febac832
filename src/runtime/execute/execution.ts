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
  /** A lock that is released when a wait lasts; `released` tells. */
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
  /** See Made. */
  readonly demanded: readonly string[];
  /** Of the plan that was expected. */
  readonly digest?: string;
}

/** One execution of a plan: what its caller asks for, what exists because of it, and what runs for it. */
export interface Execution {
  readonly asked: Asked;
  readonly made: Made;
  readonly running: Running;
}

/** What is known before the first operation, and stays as it is. */
export interface Asked {
  readonly root: string;
  readonly plan: Plan;
  /** undefined: the container exists, and its record is known from the beginning. */
  readonly blueprint?: Blueprint;
  /** Adopted by `helper.spawn`. */
  readonly headStart?: HeadStart;
  /** This process is to become the container's monitor. */
  readonly monitored?: { readonly keep: boolean };
  /** What bounds the wait for what the helper does; undefined: somebody who stops it. */
  readonly patience?: Patience;
  /** FIFO that the sizes of the terminal come from, for the monitor of an exec. */
  readonly sizes?: number;
  /** The page that `inspect` reads to see what is being done; undefined for exec. */
  readonly progress?: Progress;
}

/** What exists, and what has come of it: a rollback undoes it, with `record` as its list. */
export interface Made {
  /** From `state.intent` on; it grows from the intent to the committed state. */
  record: StateRecord;
  /** Descriptor of ROOT/ID, locked; -1: nothing is reserved yet. */
  lock: number;
  /** The state directory has more in it than every container's. */
  hasDirectory: boolean;
  /** A cgroup says whose it is. */
  marked: boolean;
  /** Cgroups that are made and cannot be joined yet. */
  readonly unfinished: UnfinishedCgroup[];
  netDevices?: NetDeviceMoves;
  /** The record for `commit`, as it was last written; undefined before there is an init. */
  staged?: Staged;
  readonly warnings: string[];
  /** Warnings that the specification wants logged: capabilities that the process does not get. */
  readonly demanded: string[];
}

/** Processes that run for it, and the descriptors to talk with them. */
export interface Running {
  /** The intermediate, or a helper that waits for its plan. 0: none, -1: it has ended and was reaped. */
  helper: number;
  /** The intermediate, when it stays for source.serve until init is in its root; 0: it does not. */
  server: number;
  /** init, or what exec starts. */
  pid: number;
  /** The rendezvous with the helper. */
  socket: number;
  /** Received before it was waited for: the intermediate's `pid` and init's first message race. */
  readonly early: host.Message[];
  /** Master side of an own terminal (foreground), -1 if there is none. */
  console: number;
  /** The listener of the seccomp filter until it is handed over. */
  listener?: number;
  /** The container's notification socket and the host's, when this process is the one that listens. */
  notification?: NotificationSockets;
  /** What the monitor needs, made while init becomes the program. */
  monitor?: MonitorPreparation;
  /** The lock of `patience` has been released. */
  released: boolean;
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
