/**
 * ContainerConfig: what the plan is compiled from. Everything is resolved (names to numbers, relative paths to absolute,
 * options to flags), nothing is optional by accident, and every part remembers the JSON pointer it came from.
 */
import type { Changeable } from "../../shared/protocol/index.ts";
import type { From, IdMappings, NamespaceConfig, NamespaceType } from "./types/common.ts";
import type { MountConfig } from "./types/mounts.ts";
import type { IntelRdtConfig, MemoryPolicy, ProcessConfig } from "./types/process.ts";

export type * from "./types/common.ts";

export type * from "./types/mounts.ts";
export type * from "./types/process.ts";

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
  /** The process is given at start; what of it may be another one then. */
  readonly template?: readonly Changeable[];
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
  /** Where `mounts` puts something below /dev. No link of every container is made there. */
  readonly mountedInDev: ReadonlySet<string>;
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
  /** Of a container in a machine: what is done there (all the rest is what is done on the host for it), and what later verbs have to know. Both or none. */
  readonly guest?: ContainerConfig;
  readonly machine?: KeptMachine;
}

/** What the state record keeps of a machine (MachineRecord of src/runtime/state). */
export interface KeptMachine {
  readonly socket: string;
  readonly memoryMiB: number;
  readonly joined?: { readonly pid: number; readonly startTime: string };
}

/** Device nodes, device rules and network devices of the container config. */
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

/** Hooks and sysctls of the container config. In the order in which they run. */
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

/** What a filter of system calls is compiled from, and what loading it takes. */

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

/**
 * Limits of the container config. The resources of linux.resources in exact numbers; undefined = not
 * asked for.
 */
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
