/**
 * ContainerConfig: what the plan is compiled from. Everything is resolved (names to numbers, relative paths to absolute,
 * options to flags), nothing is optional by accident, and every part remembers the JSON pointer it came from.
 */

/** A value with the JSON pointer in config.json that asked for it. */
export interface From {
  readonly from: string;
}

export type NamespaceType = "user" | "mount" | "pid" | "network" | "ipc" | "uts" | "cgroup" | "time";

/** New (path undefined) or joined by path. */
export interface NamespaceConfig extends From {
  readonly type: NamespaceType;
  readonly path?: string;
}

export interface IdMapping {
  readonly containerId: number;
  readonly hostId: number;
  readonly size: number;
}

export interface IdMappings {
  readonly uidMappings: readonly IdMapping[];
  readonly gidMappings: readonly IdMapping[];
}

/** The ids a mount shows: mapped (an entry maps an id of the filesystem to one of the host), or as a joined user namespace maps them. */
export interface MountIdMap {
  readonly source: IdMappings | { readonly path: string };
  /** The mounts below it too. */
  readonly recursive: boolean;
}

/** MOUNT_ATTR_* bits to set and clear, for the mount and for its whole tree; MS_* propagation changes in order. */
export interface MountAttributes {
  readonly attrSet: bigint;
  readonly attrClear: bigint;
  readonly recursiveSet: bigint;
  readonly recursiveClear: bigint;
  readonly propagation: readonly number[];
}

interface MountBase extends From, MountAttributes {
  /** Absolute, inside the container, as written (not cleaned of links). */
  readonly target: string;
}

export interface BindMount extends MountBase {
  readonly kind: "bind";
  /** Absolute host path. */
  readonly source: string;
  readonly recursive: boolean;
  /** MOUNT_ATTR_* bits that nobody asked for: cleared if the source has them, unless they are locked there (mount_namespaces(7)). */
  readonly attrDrop: bigint;
  readonly idmap?: MountIdMap;
  /** A symlink that is the source: bound itself, or copied; undefined: followed. */
  readonly sourceLink?: "bind" | "copy";
  /** A symlink that is the target is mounted on, and not followed. */
  readonly onLink?: true;
}

export interface FilesystemMount extends MountBase {
  readonly kind: "filesystem";
  readonly fstype: string;
  readonly source: string;
  /** key or key=value, one option each. */
  readonly data: readonly string[];
  /** MS_* flags of the superblock (MS_RDONLY, MS_SYNCHRONOUS, ...). */
  readonly superFlags: bigint;
  /** What the mount covers is copied into it (tmpfs only). */
  readonly copyUp: boolean;
  readonly idmap?: MountIdMap;
}

/** A mount of type cgroup or cgroup2: expanded by compile for the host's cgroup version. */
export interface CgroupMount extends MountBase {
  readonly kind: "cgroup";
}

export interface RemountMount extends MountBase {
  readonly kind: "remount";
  /** Whether the options name superblock options or data too. */
  readonly superblock: boolean;
  readonly data: readonly string[];
  readonly superFlags: bigint;
}

export type MountConfig = BindMount | FilesystemMount | CgroupMount | RemountMount;

export interface DeviceNode extends From {
  readonly path: string;
  readonly type: "c" | "b" | "p";
  readonly major: number;
  readonly minor: number;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A network device of the host that the container gets. */
export interface NetDeviceConfig extends From {
  /** On the host. */
  readonly device: string;
  /** In the container; may have one %d in it, for a number that makes it unique. */
  readonly name: string;
}

/** One row of the device allow list in OCI terms; -1 is the wildcard. */
export interface DeviceRule extends From {
  readonly allow: boolean;
  readonly type: "a" | "b" | "c";
  readonly major: number;
  readonly minor: number;
  /** Subset of "rwm". */
  readonly access: string;
}

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

/** The resources of linux.resources in exact numbers; undefined = not asked for. */
export interface ResourceConfig {
  readonly memory?: {
    readonly limit?: bigint;
    readonly reservation?: bigint;
    /** memory + swap, as in v1. */
    readonly swap?: bigint;
    readonly kernelTCP?: bigint;
    readonly swappiness?: bigint;
    readonly disableOOMKiller?: boolean;
    readonly useHierarchy?: boolean;
    readonly checkBeforeUpdate?: boolean;
  };
  readonly cpu?: {
    readonly shares?: bigint;
    readonly quota?: bigint;
    readonly burst?: bigint;
    readonly period?: bigint;
    readonly realtimeRuntime?: bigint;
    readonly realtimePeriod?: bigint;
    readonly cpus?: string;
    readonly mems?: string;
    readonly idle?: bigint;
  };
  readonly pids?: { readonly limit: bigint };
  readonly blockIO?: {
    readonly weight?: number;
    readonly leafWeight?: number;
    readonly weightDevice: readonly {
      readonly major: number;
      readonly minor: number;
      readonly weight?: number;
      readonly leafWeight?: number;
    }[];
    readonly throttleReadBpsDevice: readonly ThrottleDevice[];
    readonly throttleWriteBpsDevice: readonly ThrottleDevice[];
    readonly throttleReadIOPSDevice: readonly ThrottleDevice[];
    readonly throttleWriteIOPSDevice: readonly ThrottleDevice[];
  };
  readonly hugepageLimits: readonly { readonly pageSize: string; readonly limit: bigint }[];
  readonly network?: { readonly classID?: number; readonly priorities: readonly { readonly name: string; readonly priority: number }[] };
  readonly rdma: Readonly<Record<string, { readonly hcaHandles?: number; readonly hcaObjects?: number }>>;
  readonly unified: Readonly<Record<string, string>>;
  readonly devices: readonly DeviceRule[];
  /** The rules that every container gets are left out. */
  readonly onlyListedDevices?: boolean;
}

export interface ThrottleDevice {
  readonly major: number;
  readonly minor: number;
  readonly rate: bigint;
}

/** In the order in which they run. */
export type HookKind = "prestart" | "createRuntime" | "createContainer" | "startContainer" | "poststart" | "poststop";

export interface HookConfig {
  /** Absolute: on the host, but for startContainer in the container. */
  readonly path: string;
  /** The whole argv. */
  readonly args: readonly string[];
  /** The whole environment; undefined: that of the runtime, for startContainer that of the process. */
  readonly env?: readonly string[];
  /** Seconds; 0 = none. */
  readonly timeout: number;
}

export interface SysctlConfig {
  /** As written. */
  readonly key: string;
  /** Below /proc/sys: "net/ipv4/ip_forward". */
  readonly path: string;
  readonly value: string;
  /** The one that holds the value. */
  readonly namespace: NamespaceType;
}

/** The kinds that are asked for, in the order of the configuration. */
export type HooksConfig = { readonly [K in HookKind]?: readonly HookConfig[] };

/** One comparison of an argument: `enum scmp_compare` and its operands (mask and value for MASKED_EQ). */
export interface SeccompCondition {
  readonly index: number;
  readonly operator: number;
  readonly value: bigint;
  readonly valueTwo: bigint;
}

/** What to answer (SECCOMP_RET_* with data) when one of the calls is made and all conditions hold. */
export interface SeccompRule {
  readonly action: number;
  readonly names: readonly string[];
  readonly conditions: readonly SeccompCondition[];
}

/** What a filter is compiled from. */
export interface SeccompProfile {
  readonly defaultAction: number;
  /** Beside the native one; tokens of libseccomp. */
  readonly architectures: readonly number[];
  readonly rules: readonly SeccompRule[];
  /** Calls of rules that say what the default says. */
  readonly idle: readonly string[];
  /** System calls newer than every one of the profile give ENOSYS. */
  readonly enosysForNewer: boolean;
}

/** What loading a filter takes, whatever is in it. */
export interface SeccompFilter {
  /** SECCOMP_FILTER_FLAG_*. */
  readonly flags: number;
  /** True: the filter lets everything through that init does while it waits for `start`. */
  readonly roomForInit: boolean;
  /** Present when a rule notifies. */
  readonly listener?: { readonly path: string; readonly metadata: string };
}

export interface ContainerConfig extends IdMappings {
  readonly ociVersion: string;
  /** Absolute bundle directory. */
  readonly bundle: string;
  readonly rootfs: string;
  readonly rootReadonly: boolean;
  /** MS_* flags of linux.rootfsPropagation; 0 when not given. */
  readonly rootfsPropagation: number;
  readonly hostname?: string;
  readonly domainname?: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** undefined: config.json has no process; create works, start refuses. */
  readonly process?: ProcessConfig;
  readonly namespaces: readonly NamespaceConfig[];
  readonly timeOffsets?: {
    readonly monotonic: { readonly seconds: bigint; readonly nanoseconds: number };
    readonly boottime: { readonly seconds: bigint; readonly nanoseconds: number };
  };
  readonly mounts: readonly MountConfig[];
  /** The default nodes of the specification merged with linux.devices (which win). */
  readonly devices: readonly DeviceNode[];
  readonly netDevices: readonly NetDeviceConfig[];
  /** SELinux context of the filesystems that are made for the container. */
  readonly mountLabel?: string;
  readonly maskedPaths: readonly string[];
  readonly readonlyPaths: readonly string[];
  readonly sysctl: readonly SysctlConfig[];
  /** Both or none. */
  readonly seccomp?: SeccompFilter;
  readonly seccompProfile?: SeccompProfile;
  /** As written; "" when absent. */
  readonly cgroupsPath: string;
  readonly resources: ResourceConfig;
  readonly intelRdt?: IntelRdtConfig;
  readonly memoryPolicy?: MemoryPolicy;
  /** PER_* of personality(2). */
  readonly personality?: number;
  readonly hooks: HooksConfig;
  /** Named warnings of the derivation (ignored fields and so on). */
  readonly warnings: readonly { readonly code: string; readonly pointer: string; readonly message: string }[];
}
