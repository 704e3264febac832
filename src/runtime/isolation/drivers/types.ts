import type { CgroupRef, Left, Owner } from "../../cgroup/index.ts";
import type { ProcessConfig } from "../../config/index.ts";
import type { SpecResources } from "../../spec/index.ts";
import type { CgroupRecord, StateRecord, StateSummary } from "../../state/index.ts";

/** What of a record says where its container runs, and who its first process on the host is. */
export type IsolatedRecord = StateSummary & Pick<StateRecord, "machine">;

export interface UpdateRequest {
  readonly resources: SpecResources;
  /** Lines for the container's resctrl group. */
  readonly schemata: readonly string[];
}

/** Writes what is to be known of a container beside what is in force, with these warnings. Returns what puts it in force. */
export type Stage = (warnings: readonly string[]) => () => void;

/** What `exec` is asked for, as far as an exec in a machine is asked for the same. */
export interface ProcessRequest {
  readonly id: string;
  /** Path of the process document; the changes below do not count then. */
  readonly processFile?: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: readonly string[];
  /** UID or UID:GID. */
  readonly user?: string;
  readonly additionalGids: readonly string[];
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  readonly apparmorProfile?: string;
  readonly selinuxLabel?: string;
  readonly terminal: boolean;
  readonly preserveFds: number;
  /** Instead of a process of the container: a shell of its machine's guest, this program, with `args` behind its name. */
  readonly shell?: string;
}

/** What depends on where a container runs: on the host, or in a machine. Verbs do not ask which. */
export interface Isolation {
  /** A signal other than SIGKILL for all processes of the container. Returns those that were left alone. */
  signalAll(cgroup: CgroupRef, owner: Owner, signal: number): Left;
  /** @throws RuntError, HostError as freeze of the cgroup; then the container goes on as before */
  freeze(cgroup: CgroupRecord, owner: Owner): void;
  /** `isFrozen`: by its cgroup on the host. False: the container was not paused. */
  thaw(cgroup: CgroupRecord, owner: Owner, isFrozen: boolean): boolean;
  /** @throws RuntError; then nothing has changed */
  update(record: StateRecord, owner: Owner, request: UpdateRequest, stage: Stage): void;
  /** Carries a verb out where the container's processes are, with this process's output, and returns its status. undefined: that is here. */
  passOn(words: readonly string[]): number | undefined;
  /** The process on the host that `exec` is to make. `own`: of the container's first process; `asked`: what was asked for, as a process of the host. */
  furtherProcess(request: ProcessRequest, own: () => ProcessConfig, asked: () => ProcessConfig): ProcessConfig;
  /** @throws RuntError not-supported where `what` takes a container on the host */
  requireHost(what: string): void;
  /** Other containers below this state root that end when this one does, and before it does. */
  dependents(root: string): readonly StateRecord[];
}
