/** Settings of an engine, and what it reports about its host. */
import { isAbsolute } from "node:path";
import type { ImageStoreOptions } from "../images/index.ts";
import type { EngineOptions, HostCapacity, QueuePolicy, UserRange } from "../model/index.ts";
import type { FilterKind } from "../network/index.ts";
import type { Runtimes } from "../plan/index.ts";
import type { PullPolicy } from "../spec/index.ts";
import type { OrphanPolicy } from "./containers/orphans.ts";
import { EngineError } from "./errors.ts";
import type { CleanUpSettings } from "./image-care.ts";
import type { EngineLog } from "./log.ts";
import type { Probe } from "./probe.ts";
import type { LedgerView } from "./view.ts";

export type CgroupManager = "cgroupfs" | "systemd";

export interface EngineSettings {
  /** Absolute path of the directory for the store, executors, logs and scratch volumes. Only one engine may use it at a time. */
  readonly stateDir: string;
  /** Absolute path of the parent cgroup of all tasks. */
  readonly cgroupParent: string;
  /**
   * systemd: new tasks become slices of systemd with the task's limits, and their containers become
   * scopes in them; this needs cgroup v2. Existing tasks keep their cgroups. Default: cgroupfs.
   */
  readonly cgroupManager?: CgroupManager | undefined;
  /** Whether new tasks get a cgroup of their own, which limits of a task need. Default: true. */
  readonly taskLimits?: boolean;
  /** Path of the runt executable; undefined: searched in the package, RUNT_BINARY and PATH. */
  readonly runtime?: string | undefined;
  /** Paths of further runt executables for tasks that name a runtime, by these names. Default: none. */
  readonly runtimes?: Runtimes | undefined;
  /** Milliseconds that creating a container and running its hooks may take. Default: two minutes. */
  readonly launchTimeoutMs?: number | undefined;
  /** Directory for the files to which network namespaces are bound. Default: one in the state directory. */
  readonly namespaceDir?: string | undefined;
  /**
   * Directory that everybody can enter. Below it the engine makes one of its own for tasks with users of their own (users-KEY). Default: "users" in the state directory,
   * which others must be able to enter then.
   */
  readonly usersDir?: string | undefined;
  /** Directories with CDI specifications; a later one takes precedence. Default: /etc/cdi, /var/run/cdi. */
  readonly cdiPath?: readonly string[] | undefined;
  /** Directories with CNI plugins, searched in order. Default: /opt/cni/bin, /usr/lib/cni, /usr/libexec/cni. */
  readonly cniPath?: readonly string[] | undefined;
  /** Path of aardvark-dns, which answers tasks that ask for names. Default: where distributions have it. */
  readonly resolver?: string | undefined;
  /** Which program writes the rules of the host. auto: nft, and iptables where nft does not work. Default: auto. */
  readonly packetFilter?: FilterKind | "auto" | undefined;
  /** Milliseconds that one call of a network plugin may take. Default: 30 seconds. */
  readonly networkTimeoutMs?: number | undefined;
  /** Milliseconds between two checks of the tasks' networks. Default: a minute. */
  readonly networkCheckMs?: number | undefined;
  /** Stream socket of systemd's journal, for `log.driver: journald`. Default: /run/systemd/journal/stdout. */
  readonly journalSocket?: string | undefined;
  /** Milliseconds between two measurements of scratch volumes with a size limit. Default: 10 seconds. */
  readonly volumeCheckMs?: number | undefined;
  /** Milliseconds between two polls for ends of containers that no event has reported. Default: two minutes. */
  readonly pollMs?: number;
  /**
   * Whether this process runs nothing but the engine. It and its children then move to a cgroup of their own ("effects" below `cgroupParent`), and the next engine
   * first ends what is left there.
   */
  readonly isOwnProcess?: boolean;
  readonly options?: Partial<EngineOptions>;
  /** Capacity of the host for tasks. Default: its CPUs and its memory. */
  readonly capacity?: Partial<HostCapacity>;
  /** Ids of the host for tasks with users of their own. Default: 4096 ranges from 1879048192 on. */
  readonly userIds?: UserRange | undefined;
  /** The order in which tasks start when not all fit. Default: first come, first served; a task larger than the host waits. */
  readonly queue?: Partial<QueuePolicy>;
  /** What to do with containers that the store does not know. Default: show. */
  readonly orphans?: OrphanPolicy;
  /**
   * The state directory was moved or copied, and the store may take its new place. While the original is there the copy becomes a store of its own, in which nothing runs.
   * Default: a store that is somewhere else than it was written is refused.
   */
  readonly moved?: boolean;
  readonly images?: ImageSettings;
  readonly log?: EngineLog;
  /** A hook for tests. */
  readonly probe?: Probe;
}

export interface ImageSettings
  extends Omit<ImageStoreOptions, "directory" | "bootId" | "onSyncError" | "onDamaged" | "inUse" | "remembered"> {
  /** Milliseconds for one build of an image. Default: an hour. */
  readonly buildTimeoutMs?: number | undefined;
  /** Pull policy for containers that do not set one. Default: default. */
  readonly pullPolicy?: PullPolicy | undefined;
  readonly cleanUp?: CleanUpSettings | undefined;
}

export interface NodeView {
  readonly bootId: string;
  /** Number of times that an engine was started on this state directory. */
  readonly epoch: number;
  readonly lastSequence: number;
  readonly tasks: number;
  readonly ledger: LedgerView;
  /** Problems of the host or the store, by name. */
  readonly conditions: readonly {
    readonly type:
      | "StoreReadOnly"
      | "RecordsDamaged"
      | "Orphans"
      | "NotLookedUp"
      | "Overcommitted"
      | "NetworkBroken"
      | "NoResolver"
      | "PacketFilterChanged"
      | "NotStopped"
      | "NotRemoved"
      | "WatchFailed"
      | "Drifted";
    readonly message: string;
  }[];
}

const PLACES = ["stateDir", "cgroupParent"] as const;

/** @throws EngineError invalid-argument */
export function checkSettings(settings: EngineSettings): void {
  for (const name of PLACES) {
    const path: unknown = (Object(settings) as Partial<EngineSettings>)[name];
    if (typeof path !== "string" || !isAbsolute(path))
      throw new EngineError("invalid-argument", `the setting ${name} is an absolute path, and not ${JSON.stringify(path)}`, {
        field: name,
      });
  }
}
