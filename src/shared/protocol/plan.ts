/**
 * The wire form of a plan: the helper's operations, each with its place in the printed plan.
 * A head, then for each operation a head and its fields (fields.ts); all words of the heads are u32, little endian.
 */
export const PLAN_VERSION = 1;

/** "RUNT", little endian. */
export const PLAN_MAGIC = 0x544e_5552;

/** `bytes` counts all of the plan, `slots` the descriptors that the helper makes room for. */
export const PLAN_HEAD = { magic: "u32", version: "u32", bytes: "u32", operations: "u32", slots: "u32" } as const;

/** Before each operation: its number, its actor's, its place in the printed plan, and the bytes of its fields. */
export const OPERATION_HEAD = { number: "u32", actor: "u32", index: "u32", bytes: "u32" } as const;

/** The slot value that means "no descriptor". */
export const NO_SLOT = 0xffff_ffff;

/** Slots with a fixed meaning; compile numbers the others from FIRST_FREE up. */
export const SLOT = {
  /** O_PATH descriptor of the container's root mount. */
  ROOT: 0,
  /** Verified procfs of the host, O_PATH; opened before the pivot. */
  PROC: 1,
  /** Detached clone of the host's verified /dev/null, for masking files. */
  NULL: 2,
  /** exec.fifo of the state directory, O_RDWR. */
  FIFO: 3,
  /** Connected console socket. */
  CONSOLE: 4,
  FIRST_FREE: 5,
} as const;
