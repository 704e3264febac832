/**
 * ContainerConfig: what the plan is compiled from. Everything is resolved (names to numbers, relative paths to absolute,
 * options to flags), nothing is optional by accident, and every part remembers the JSON pointer it came from.
 */
import type { IdMappings, NamespaceConfig } from "./types/common.ts";
import type { DeviceNode, NetDeviceConfig } from "./types/devices.ts";
import type { HooksConfig, SysctlConfig } from "./types/hooks.ts";
import type { MountConfig } from "./types/mounts.ts";
import type { IntelRdtConfig, MemoryPolicy, ProcessConfig } from "./types/process.ts";
import type { ResourceConfig } from "./types/resources.ts";
import type { SeccompFilter, SeccompProfile } from "./types/seccomp.ts";

export type * from "./types/common.ts";
export type * from "./types/devices.ts";
export type * from "./types/hooks.ts";
export type * from "./types/mounts.ts";
export type * from "./types/process.ts";
export type * from "./types/resources.ts";
export type * from "./types/seccomp.ts";

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
