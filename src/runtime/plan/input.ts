import type { OpArgs } from "../../shared/protocol/index.ts";
import type { ContainerConfig } from "../config/index.ts";

/** What the cgroup layer wants done, as data (made by `src/runtime/cgroup` for the version the host has). */
export interface CgroupSetup {
  readonly create: readonly { readonly path: string }[];
  /** The directory in the v2 hierarchy of a hybrid host. */
  readonly unified?: string;
  readonly writes: readonly { readonly path: string; readonly value: string; readonly from: string }[];
  /** v1: the tasks file of every hierarchy, on a hybrid host with the directory of v2; v2: the one directory; with systemd: the unit. */
  readonly join: CgroupJoin;
  readonly devices?: { readonly path: string; readonly rules: readonly string[] };
}

export type CgroupJoin = { readonly tasks: readonly string[]; readonly directory?: string } | { readonly directory: string } | UnitJoin;

/** The directory of v2 that init is cloned into. */
export function birthplace(join: CgroupJoin | undefined): string | undefined {
  return join !== undefined && "directory" in join ? join.directory : undefined;
}

/** The systemd driver's way: the cgroup is made around init once it exists. */
export interface UnitJoin extends OpArgs<"systemd.startUnit"> {
  /** Files that init's pid is written to afterwards. */
  readonly attach: readonly string[];
}

/** One hierarchy as a container's cgroup mount shows it. */
export interface CgroupMountSource {
  /** Where the hierarchy is mounted on the host. */
  readonly mountpoint: string;
  /** Base name of the mount point on the host: "cpu,cpuacct", "systemd", "memory". */
  readonly name: string;
  /** Controllers, or the named hierarchy as "name=systemd"; empty for v2. */
  readonly controllers: readonly string[];
  /** The container's directory in this hierarchy, on the host. */
  readonly directory: string;
}

/** Groups of a mounted resctrl filesystem, by their paths below the mount point ("" is the default group). */
export interface GroupPlace {
  readonly mount: string;
  readonly group: string;
  /** A monitoring group below it, of the container's own. */
  readonly monitor?: string;
}

/** What the command line says, beyond config.json. */
export interface Invocation {
  readonly id: string;
  /** create: init waits on exec.fifo for `start`. run: it goes on after `commit`. */
  readonly mode: "create" | "run";
  readonly consoleSocket?: string;
  readonly pidFile?: string;
  readonly noPivot: boolean;
  readonly noNewKeyring: boolean;
  readonly preserveFds: number;
  readonly listenFds: number;
  /** unix stream socket that receives a pidfd of the process. */
  readonly pidfdSocket?: string;
  /** NOTIFY_SOCKET of the caller: readiness of the container is told there. */
  readonly notifySocket?: string;
}

/** What compile needs to know about the host; gathered once, so that compile stays pure. */
export interface CompileHost {
  /** Directory of this container's state: ROOT/ID. */
  readonly stateDirectory: string;
  /** No rights on the host: namespaces are joined from inside the user namespace. */
  readonly rootless: boolean;
  /** Of a rootless caller: its ids, and where the setuid programs for more than these are. */
  readonly caller?: { readonly uid: number; readonly gid: number; readonly newuidmap?: string; readonly newgidmap?: string };
  /** No right to make device nodes: the caller is in a user namespace itself. */
  readonly bindDevices?: boolean;
  /** Whether setgroups(2) is allowed in the user namespace that is entered; undefined for a new one. */
  readonly setgroups?: boolean;
  /** False: AppArmor is not enabled, so that everything is unconfined. */
  readonly apparmor?: boolean;
  readonly cgroupVersion: 1 | 2;
  readonly cgroupSources: readonly CgroupMountSource[];
  /** The caller's terminal, when the container is to have its own in the foreground: it starts with this size. */
  readonly terminalSize?: { readonly rows: number; readonly columns: number };
  /** undefined: the container gets no cgroup of its own. */
  readonly cgroup?: CgroupSetup;
  /** When the configuration has intelRdt. */
  readonly resctrl?: GroupPlace;
}

export interface CompileInput {
  readonly config: ContainerConfig;
  readonly invocation: Invocation;
  readonly host: CompileHost;
}
