/** The process of the container config, and what it is scheduled by. */
import type { From } from "./common.ts";

export interface Rlimit extends From {
  /** "RLIMIT_NOFILE". */
  readonly type: string;
  readonly soft: bigint;
  readonly hard: bigint;
}

/** Capability sets as bit masks (1n << CAP_*). */
export interface CapabilitySets {
  readonly bounding: bigint;
  readonly effective: bigint;
  readonly permitted: bigint;
  readonly inheritable: bigint;
  readonly ambient: bigint;
}

/** struct sched_attr of sched_setattr(2). */
export interface SchedulerConfig {
  /** SCHED_*. */
  readonly policy: number;
  /** SCHED_FLAG_*. */
  readonly flags: number;
  readonly nice: number;
  readonly priority: number;
  /** Nanoseconds. */
  readonly runtime: bigint;
  readonly deadline: bigint;
  readonly period: bigint;
}

/** IOPRIO_CLASS_* and the level in it, 0 (highest) to 7. */
export interface IoPriority {
  readonly class: number;
  readonly priority: number;
}

/** Arguments of set_mempolicy(2): MPOL_*, MPOL_F_*, node numbers. */
export interface MemoryPolicy {
  readonly mode: number;
  readonly flags: number;
  readonly nodes: readonly number[];
}

export interface IntelRdtConfig {
  /** "/" is the default group; undefined: a group of the container's own, named after it. */
  readonly closId?: string;
  /** Lines of the schemata file, in the order in which they are written. */
  readonly schemata: readonly string[];
  /** A monitoring group of the container's own. */
  readonly monitoring: boolean;
}

export interface ProcessConfig {
  readonly terminal: boolean;
  /** 0 when not given. */
  readonly consoleRows: number;
  readonly consoleColumns: number;
  readonly args: readonly string[];
  /** Duplicates removed (the last wins), in order. */
  readonly env: readonly string[];
  readonly cwd: string;
  readonly uid: number;
  readonly gid: number;
  readonly additionalGids: readonly number[];
  /** The supplementary groups stay what the caller's are; additionalGids have no effect. */
  readonly keepGroups?: true;
  /** Default 0o022. */
  readonly umask: number;
  /** undefined: a process document of exec without a capabilities object; the container's are taken. */
  readonly capabilities?: CapabilitySets;
  readonly noNewPrivileges: boolean;
  readonly rlimits: readonly Rlimit[];
  readonly oomScoreAdj?: number;
  readonly scheduler?: SchedulerConfig;
  readonly ioPriority?: IoPriority;
  /** exec: CPUs to run on before the cgroup is joined, and after. Empty: as the caller. */
  readonly execAffinity?: { readonly initial: readonly number[]; readonly final: readonly number[] };
  /** AppArmor profile to change to on execve. */
  readonly apparmorProfile?: string;
  /** SELinux context to run in. */
  readonly selinuxLabel?: string;
}
