/** A plan: which operations, by whom, when, with which arguments. What there is to choose from: src/shared/protocol. */
import type { Actor, OpArgs, OpName, PLAN_VERSION } from "../../shared/protocol/index.ts";

/** The phases a printed plan is grouped by. */
export type Phase =
  | "host"
  | "spawn"
  | "cgroups"
  | "namespaces"
  | "rootfs"
  | "mounts"
  | "devices"
  | "hooks"
  | "pivot"
  | "process"
  | "commit";

/** One operation: what, who, when, with which arguments, and the JSON pointer in config.json it comes from. */
export type Op<K extends OpName = OpName> = {
  [N in K]: { readonly op: N; readonly actor: Actor; readonly phase: Phase; readonly from: string; readonly args: OpArgs<N> };
}[K];

export interface Plan {
  readonly version: typeof PLAN_VERSION;
  /** Container id. */
  readonly id: string;
  /** Number of descriptor slots the helper needs. */
  readonly slots: number;
  readonly ops: readonly Op[];
}

/** The plan as one line of JSON; 64-bit numbers are decimal strings, so that no reader rounds them. */
export function planJson(plan: Plan): string {
  return JSON.stringify(plan, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}
