/** What an operation is made of, and how its fields are written. */

/**
 * runtime: the TypeScript process (`bin/runt`). intermediate: the helper before the clone, with the host's view and rights. init: the helper after the
 * clone, which becomes the container's process by execve.
 */
export type Actor = "runtime" | "intermediate" | "init";

/** Those of the helper; their numbers on the wire are their places here. */
export const HELPER_ACTORS = ["intermediate", "init"] as const satisfies readonly Actor[];

/**
 * Field types and their wire forms (little endian, unaligned).
 * u32, bool: 4 bytes. u64, i64: 8 bytes. slot: u32 index into the helper's descriptor table (NO_SLOT = none).
 * str: u32 length, bytes, one NUL. strs: u32 count, then str each. u32s: u32 count, then u32 each.
 */
export type FieldType = "u32" | "bool" | "u64" | "i64" | "slot" | "str" | "strs" | "u32s";

export interface FieldValue {
  u32: number;
  bool: boolean;
  u64: bigint;
  i64: bigint;
  slot: number;
  str: string;
  strs: readonly string[];
  u32s: readonly number[];
}

export interface OpDefinition {
  readonly id: number;
  readonly actors: readonly Actor[];
  readonly doc: string;
  readonly fields: Readonly<Record<string, FieldType>>;
}
