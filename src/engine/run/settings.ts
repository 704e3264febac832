/** Settings of an engine, and the facts about the host that it reports. */

import type { ImageStoreOptions } from "../images/index.ts";
import type { EngineOptions, HostCapacity, QueuePolicy } from "../model/index.ts";
import type { PullPolicy } from "../spec/index.ts";
import type { CleanUpSettings } from "./image-care.ts";
import type { EngineLog } from "./log.ts";
import type { OrphanPolicy } from "./orphans.ts";
import type { Probe } from "./probe.ts";
import type { LedgerView } from "./view.ts";

export type CgroupManager = "cgroupfs" | "systemd";

export interface EngineSettings {
  /** Absolute: store, executors, logs and scratch volumes. One engine at a time. */
  readonly stateDir: string;
  /** Absolute path of the cgroup below which all tasks are. */
  readonly cgroupParent: string;
  /**
   * systemd: new tasks are slices of systemd's with the task's limits, and their containers scopes in them; cgroup v2 only. Tasks that are there stay as they were made.
   * Default: cgroupfs.
   */
  readonly cgroupManager?: CgroupManager | undefined;
  /** Whether new tasks have a cgroup of their own; without one a task cannot have limits. Default: true. */
  readonly taskLimits?: boolean;
  /** The program runt; undefined: that of the package, RUNT_BINARY, PATH. */
  readonly runtime?: string | undefined;
  /** How long it may take to make a container and to run its hooks: milliseconds. Default: two minutes. */
  readonly launchTimeoutMs?: number | undefined;
  /** Directory of the files that network namespaces are bound to. Default: one in the state directory. */
  readonly namespaceDir?: string | undefined;
  /** Directories of CNI plugins, the first one first. Default: /opt/cni/bin, /usr/lib/cni, /usr/libexec/cni. */
  readonly cniPath?: readonly string[] | undefined;
  /** How long one call of a network plugin may take: milliseconds. Default: 30 seconds. */
  readonly networkTimeoutMs?: number | undefined;
  /** How often the networks of tasks are looked at: milliseconds. Default: a minute. */
  readonly networkCheckMs?: number | undefined;
  /** Stream socket of systemd's journal, for `log.driver: journald`. Default: /run/systemd/journal/stdout. */
  readonly journalSocket?: string | undefined;
  /** How often scratch volumes with a size are measured; default 10 s. */
  readonly volumeCheckMs?: number | undefined;
  /** How often containers are looked at in case nobody told of an end: milliseconds. Default: two minutes. */
  readonly pollMs?: number;
  /**
   * This process is for the engine alone: it and what it starts go into a cgroup of their own ("effects" below `cgroupParent`), and the next engine ends
   * what is left there before it does anything else.
   */
  readonly isOwnProcess?: boolean;
  readonly options?: Partial<EngineOptions>;
  /** What tasks may have of the host; default: its CPUs and its memory. */
  readonly capacity?: Partial<HostCapacity>;
  /** Who starts first when not all fit; default: in order, and what is larger than the host waits. */
  readonly queue?: Partial<QueuePolicy>;
  /** What becomes of containers that the store does not know; default: they are shown. */
  readonly orphans?: OrphanPolicy;
  readonly images?: ImageSettings;
  readonly log?: EngineLog;
  /** For tests. */
  readonly probe?: Probe;
}

export interface ImageSettings extends Omit<ImageStoreOptions, "directory" | "inUse"> {
  /** Of containers that say nothing; default: default. */
  readonly pullPolicy?: PullPolicy | undefined;
  readonly cleanUp?: CleanUpSettings | undefined;
}

export interface NodeView {
  readonly bootId: string;
  /** One more with each start of the engine in this state directory. */
  readonly epoch: number;
  readonly lastSequence: number;
  readonly tasks: number;
  readonly ledger: LedgerView;
  /** What is wrong with the host or the store, by name. */
  readonly conditions: readonly {
    readonly type: "StoreReadOnly" | "RecordsDamaged" | "Orphans" | "NotLookedUp" | "Overcommitted" | "NetworkBroken";
    readonly message: string;
  }[];
}
