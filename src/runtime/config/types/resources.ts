/** Limits of the container config. */
import type { DeviceRule } from "./devices.ts";

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
