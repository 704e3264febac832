/** What an executor is asked to run. */
import type { NamespaceType } from "../profile.ts";

/** Where one standard stream goes. "pipe" is a FIFO in the executor's directory that Executor.stdin, stdout and stderr are the other end of. */
export type Stdio =
  | "null"
  | "pipe"
  /** stdin only: a FIFO in the executor's directory that the container never reads the end of. Whoever writes comes and goes (Executor.openStdin). */
  | "open"
  /** A file that is appended to (stdin: read). It is made if absent. */
  | { readonly file: string }
  /** A FIFO that exists. Its reader may come later, and go. */
  | { readonly fifo: string };

/**
 * A file to which all output is written with its time, also after the launching process has ended: "TIME STREAM F|P BYTES", as CRI has it.
 */
export interface LogFile {
  /** Absolute; a new file in an existing directory, or one that is appended to. One container at a time. */
  readonly path: string;
  /** Before a file is larger it becomes PATH.1, and so on: at least 65536, default 10 MiB. */
  readonly maxBytes?: number;
  /** Files that are kept, with the one that is written: 1 to 1000, default 3. */
  readonly files?: number;
}

export interface StdioSet {
  readonly stdin?: Stdio;
  readonly stdout?: Stdio;
  readonly stderr?: Stdio;
  /** In place of stdout and stderr; of a terminal in place of stdout. */
  readonly log?: LogFile;
}

/** `size` ids of a container from `containerID` on are those of the host from `hostID` on. */
export interface IdMapping {
  readonly containerID: number;
  readonly hostID: number;
  readonly size: number;
}

export interface Mount {
  readonly destination: string;
  readonly source?: string;
  readonly type?: string;
  readonly options?: readonly string[];
  /** With the option idmap or ridmap: whose ids the files of the mount have. */
  readonly uidMappings?: readonly IdMapping[];
  readonly gidMappings?: readonly IdMapping[];
}

/** Of a terminal, in characters: 1 to 65535 each. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface Device {
  readonly path: string;
  readonly type: "c" | "b" | "p";
  readonly major?: number;
  readonly minor?: number;
  /** Default: "rwm". */
  readonly access?: string;
  readonly fileMode?: number;
  readonly uid?: number;
  readonly gid?: number;
}

/** Absent: each type, each number, all access. */
export interface DeviceRule {
  readonly type?: "a" | "b" | "c";
  readonly major?: number;
  readonly minor?: number;
  readonly access?: string;
}

/**
 * "private" (default): of its own. "host": the host's, which is said aloud. A path: that namespace. `executor`: that of another executor of the state
 * directory, created or running. A pid namespace ends with the process that has made it.
 */
export type NamespaceMode = "private" | "host" | { readonly path: string } | { readonly executor: string };

/** Sets that are not named are the default; `ambient` is empty unless asked for. Or one list for bounding, effective and permitted. */
export type Capabilities =
  | readonly string[]
  | {
      readonly bounding?: readonly string[];
      readonly effective?: readonly string[];
      readonly permitted?: readonly string[];
      readonly inheritable?: readonly string[];
      readonly ambient?: readonly string[];
    };

/** Limits; absent or 0: none. */
export interface Resources {
  /** Bytes of memory. Swap is not used then (swappiness 0 on v1, no swap on v2), unless `memorySwapBytes` says so. */
  readonly memoryBytes?: number;
  /** Bytes of memory and swap together, at least `memoryBytes`; -1: as much swap as there is. */
  readonly memorySwapBytes?: number;
  readonly memoryReservationBytes?: number;
  /** Relative weight, 2 to 262144 (v2: converted to cpu.weight as runc does). */
  readonly cpuShares?: number;
  /** CPUs worth of time: 0.5 is 50 ms of every 100. At least 0.01. */
  readonly cpus?: number;
  /** CPUs and memory nodes to use: "0-3,7". */
  readonly cpuset?: string;
  readonly memoryNodes?: string;
  readonly pids?: number;
  /** Bytes of huge pages by their size, such as "2MB" or "1GB"; 0: none of this size. The host needs the controller hugetlb. */
  readonly hugepages?: Readonly<Record<string, number>>;
}

export interface Rlimit {
  /** "RLIMIT_NOFILE". */
  readonly type: string;
  readonly soft: number | bigint;
  readonly hard: number | bigint;
}

/** An object of an OCI configuration. Numbers that a double cannot hold are BigInt. */
export type OciObject = Readonly<Record<string, unknown>>;

/** `process` of an OCI configuration, for callers that have one. */
export type OciProcess = Readonly<Record<string, unknown>> & { readonly args: readonly string[] };

interface Common {
  /** Directory that becomes the root file system. */
  readonly rootfs: string;
  readonly readonlyRootfs?: boolean;
  /** Default: none. */
  readonly domainname?: string;
  /** Default: the id. In a joined uts namespace it changes the name there, and there is no default. */
  readonly hostname?: string;
  /** Mounts after the default ones; one with the same destination takes the default's place. */
  readonly mounts?: readonly Mount[];
  readonly devices?: readonly Device[];
  /** Further devices that it may use, without nodes of them. */
  readonly deviceRules?: readonly DeviceRule[];
  /**
   * For a program that is trusted with the host. Without `capabilities` it has all that this process has, and no_new_privs is set only if asked for. Nothing of
   * /proc and /sys is masked or read-only, and cgroups are mounted writable. It has all devices of the host's /dev, and may use any.
   */
  readonly privileged?: boolean;
  /** Nothing of /proc and /sys is masked or read-only. Without `privileged` it is for containers with `userNamespace`, in which the kernel itself refuses what is the host's. */
  readonly unmasked?: boolean;
  /** false: there is no /dev/shm, unless one of `mounts` is it. Default: true. */
  readonly sharedMemory?: boolean;
  readonly namespaces?: Readonly<Partial<Record<NamespaceType, NamespaceMode>>>;
  /** Absolute path of a user namespace to join, which owns all other namespaces that are made for it. Its root file system belongs to users of it. Default: that of the host. */
  readonly userNamespace?: string;
  /**
   * Executor whose virtual machine this one joins: its namespaces are named by its process, by which `runt` finds the machine (docs/vm.md), and not by descriptors.
   */
  readonly sandbox?: string;
  readonly resources?: Resources;
  readonly stdio?: StdioSet;
  /** All three streams are one terminal; its output is `stdout`, and stdin goes to it. */
  readonly pty?: boolean | TerminalSize;
  readonly annotations?: Readonly<Record<string, string>>;
  /** linux.resources.blockIO of the OCI configuration; default: no weights and no limits. */
  readonly blockIO?: OciObject;
  /** linux.seccomp of the OCI configuration; default: no filter. */
  readonly seccomp?: OciObject;
  /** `hooks` of the OCI configuration: programs of the host that run with its rights. */
  readonly hooks?: OciObject;
  /**
   * Absolute path below which the container's cgroup is made, or a slice of systemd ("tasks-web.slice"), in which the container is a scope; default:
   * "/runt-executor". null: it stays in the cgroup of this process, has no limits, and is ended as its pid namespace is, which it needs.
   */
  readonly cgroupParent?: string | null;
}

/** A command line. */
export interface CommandLaunch extends Common {
  /** Looked for in the container, along the container's PATH when it has no slash. */
  readonly cmd: string;
  readonly args?: readonly string[];
  /** Added to PATH, which can be replaced. Values are kept as they are. */
  readonly env?: Readonly<Record<string, string>>;
  /** "name", "uid", either with ":group"; names are looked up in the container's /etc/passwd and /etc/group. Default: root. */
  readonly user?: string;
  /** Beside those that the container's /etc/group has. */
  readonly additionalGids?: readonly number[];
  /** Names in the container's /etc/group. */
  readonly additionalGroups?: readonly string[];
  /** Not those that the container's /etc/group has. */
  readonly strictGids?: boolean;
  readonly cwd?: string;
  readonly capabilities?: Capabilities;
  readonly rlimits?: readonly Rlimit[];
  readonly noNewPrivileges?: boolean;
  /** Profile of AppArmor, which has to be loaded; default: none. */
  readonly apparmorProfile?: string;
  /** -1000 to 1000; default 0: whatever the supervisor has is not inherited. */
  readonly oomScoreAdj?: number;
}

/** A process of an OCI configuration, as it is. */
export interface ProcessLaunch extends Common {
  readonly process: OciProcess;
}

/**
 * A whole OCI configuration, as it is but for what is named here. Mounts come after its own, limits and annotations take the place of its own, and
 * namespaces that are named that of its entry. Its cgroup path is the executor's, and it has a terminal with `pty` only.
 */
export interface ConfigLaunch
  extends Pick<
    Common,
    "mounts" | "namespaces" | "userNamespace" | "sandbox" | "resources" | "stdio" | "pty" | "annotations" | "cgroupParent"
  > {
  readonly config: OciObject;
  /** Absolute directory from which relative paths in it count. */
  readonly bundle: string;
}

export type LaunchCommand = CommandLaunch | ProcessLaunch | ConfigLaunch;
