/** Hooks and sysctls of the container config. */
import type { NamespaceType } from "./common.ts";

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
