/** What executors tell of themselves. */

/** An executor never says exited while a process of it lives. */
export type ExecutorState =
  | "idle"
  | "launching"
  /** Made by create: its first process waits for start. */
  | "created"
  | "running"
  /** No process of it runs until resume. Any process may have called pause. */
  | "paused"
  /** A signal was sent, and the end is waited for. */
  | "terminating"
  /** The program has ended, what it left is being removed. */
  | "draining"
  /** Everything in the cgroup is being killed. */
  | "killing"
  | "exited"
  | "failed"
  /** It could not be killed in time; it is tried again. */
  | "stuck";

/** host-rebooted: it ran in another boot of this host. */
export type UnknownCause = "record-removed" | "monitor-killed" | "host-rebooted";

export interface ProcessState {
  readonly pid: number;
  readonly startTicks: string;
  /** Of the boot that pid and startTicks are of; undefined: an older version has recorded it. */
  readonly bootId?: string;
  /** 128 + signal when a signal ended it. null: it runs, or its end is unknown (`unknown`). */
  readonly exitCode: number | null;
  readonly signal: number | null;
  /** The program itself was killed by the kernel for memory. */
  readonly oomKilled: boolean;
  /** How many processes of the container were. */
  readonly oomKills: number;
  /** True: it has ended, and how is unknown; `unknownCause` and `error` say why. Never reported as 0. */
  readonly unknown: boolean;
  readonly unknownCause?: UnknownCause;
  readonly error?: string;
  /** Milliseconds since the epoch; of a container that waits for start, when it was made. */
  readonly startedMs: number;
  readonly endedMs: number | null;
}

export interface LaunchOptions {
  /** Ends a launch that takes too long: a hook that hangs, a source of a mount that does not answer. */
  readonly abort?: AbortSignal;
}

export interface ShutdownPlan {
  /** Sent to the program first; default SIGINT. */
  readonly signal?: string | number;
  /** Milliseconds until everything is killed; 0: at once. Default 5000. */
  readonly graceMs?: number;
}

export interface ShutdownResult {
  /** not-launched and already: there was nothing to do. signal: it ended within the grace. kill: it had to be killed. */
  readonly endedBy: "not-launched" | "already" | "signal" | "kill";
  readonly state: ProcessState | null;
}

/** For a log. Arguments and environment, which may be secret, are never part of it. */
export type ExecutorEvent =
  | { readonly type: "launch"; readonly id: string; readonly cmd: string; readonly binary: string }
  /** "paused", and "running" after it, are told of pause and resume of this process only. */
  | { readonly type: "state"; readonly id: string; readonly state: ExecutorState }
  | { readonly type: "exec"; readonly id: string; readonly cmd: string };

/** The cgroup of a container, as its caller has recorded it. */
export interface KnownCgroup {
  /** `cgroupParent` of the launch. */
  readonly parent: string;
  /** No other program can have given a container a cgroup of this path, because it has a random part. Otherwise the processes in it are left alone, and reported as stuck. */
  readonly isUnique: boolean;
}

export interface ExecutorOptions {
  /** Absolute directory of the executors of one supervisor; made if absent. */
  readonly stateDir: string;
  /**
   * Absolute directory of a file system in memory, for one that is to be launched: its configuration, with its environment, and its state are there and nowhere else, and end with
   * the boot. Whoever adopts it need not know. Default: what stateDir is on.
   */
  readonly memoryDir?: string;
  /** Chosen by the caller, unique below stateDir. */
  readonly id: string;
  /** Where its cgroup is: with this its processes are found and ended even if what is on disk of it is lost. Default: then what the runtime does not know is not ended. */
  readonly cgroup?: KnownCgroup;
  /**
   * The directory was moved to another file system, and the original is gone: discard also ends executors that were made there. Default: false, because with an original that
   * is there they are its own.
   */
  readonly moved?: boolean;
  /** Program of the runtime; default: see Runtime. */
  readonly binary?: string;
  readonly onEvent?: (event: ExecutorEvent) => void;
  /** How `await using` ends it when its scope is left; default: that of shutdown. */
  readonly atScopeEnd?: ShutdownPlan;
}

export interface ExecutorVersion {
  readonly library: string;
  readonly protocol: { readonly major: number; readonly minor: number };
  /** Of the `runt` that is used. */
  readonly runtime: string;
}
