/** What `runt` prints and takes. Documents are those of `runt schema`; fields are only ever added. */

import type { LogFile } from "../launch/command.ts";

export type ContainerStatus = "creating" | "created" | "running" | "paused" | "stopped";

/** OCI state. */
export interface ContainerState {
  readonly ociVersion: string;
  readonly id: string;
  readonly status: ContainerStatus;
  readonly pid: number;
  readonly bundle: string;
  readonly rootfs?: string;
  readonly created?: string;
  readonly owner?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Descriptors that the container gets as stdio. */
export type StdioDescriptors = readonly [number | "ignore", number | "ignore", number | "ignore"];

export interface CreateOptions {
  /** Absolute directory with config.json. */
  readonly bundle: string;
  /** Another file than config.json of the bundle. */
  readonly config?: string;
  readonly consoleSocket?: string;
  readonly pidFile?: string;
  readonly noPivot?: boolean;
  readonly noNewKeyring?: boolean;
  readonly cgroupParent?: string;
  /** In place of RuntimeOptions.cgroupManager. */
  readonly cgroupManager?: "cgroupfs" | "systemd" | "disabled";
  /** Digest or file of a plan: nothing is done when it would be another one. */
  readonly expectPlan?: string;
  /** Default: none (/dev/null). */
  readonly stdio?: StdioDescriptors;
  /** The file that tells how the container ended. A process stays that writes it, and removes the container at its end. */
  readonly exitRecord?: string;
  /** With exitRecord: FIFO that sizes of the container's terminal are read from, a line "ROWS COLUMNS" each. */
  readonly resizeFifo?: string;
  /** With exitRecord: FIFO that the deadline is read from, a line "MILLISECONDS", from when it is read. */
  readonly deadlineFifo?: string;
  /** With exitRecord, and pipes or FIFOs as stdout and stderr: what comes through them is written there. */
  readonly outputLog?: LogFile;
  /** Kills the call; what it has made by then is to be deleted. */
  readonly abort?: AbortSignal;
}

export interface KillOptions {
  readonly all?: boolean;
  readonly cgroup?: string;
}

export interface ExecOptions {
  readonly args?: readonly string[];
  readonly env?: readonly string[];
  readonly cwd?: string;
  /** UID or UID:GID. */
  readonly user?: string;
  readonly additionalGids?: readonly number[];
  readonly capabilities?: readonly string[];
  /** [CONTROLLER,...:]PATH below the container's cgroup. */
  readonly cgroups?: readonly string[];
  readonly input?: string;
  /** A terminal: stdin is typed into it, stdout is what it shows. Needs resizeFifo, for stdin and stdout are none. */
  readonly tty?: boolean;
  /** "ROWSxCOLUMNS" at the beginning. */
  readonly consoleSize?: string;
  /** FIFO that later sizes are read from, a line "ROWS COLUMNS" each. */
  readonly resizeFifo?: string;
  /** Written when the process is there: its host pid. */
  readonly pidFile?: string;
}

export interface ExecOutput {
  readonly exitCode: number;
  readonly stdout: string;
}

/** linux.resources of the OCI runtime specification. */
export type OciResources = Readonly<Record<string, unknown>>;

export interface Finding {
  /** Stable; docs/findings.md explains each. */
  readonly code: string;
  readonly severity: "error" | "warning" | "advice";
  readonly message: string;
  /** Where in config.json: JSON pointer, line and column from 1. */
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
  /** As it stands in the file, if it is there. */
  readonly value?: string;
  readonly remedy?: string;
  /** What demands it: "OCI 1.3 config.md#process". */
  readonly section?: string;
  readonly title?: string;
}

export interface Findings {
  readonly file: string;
  /** What it was looked at for: "live host, cgroup v2", "no host". */
  readonly host: string;
  readonly counts: { readonly error: number; readonly warning: number; readonly advice: number };
  readonly findings: readonly Finding[];
}

export interface RuntimeEvent {
  readonly type: "stats" | "oom" | (string & {});
  readonly id: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface CriuOptions {
  readonly imagePath: string;
  readonly workPath?: string;
  readonly leaveRunning?: boolean;
  readonly tcpEstablished?: boolean;
  readonly fileLocks?: boolean;
}

export interface Inspection {
  readonly state: ContainerState;
  readonly warnings: readonly string[];
  readonly cgroup?: { readonly version: 1 | 2; readonly paths: readonly string[]; readonly unit?: string };
  readonly processes?: readonly number[];
  readonly drift: number;
  readonly [field: string]: unknown;
}
